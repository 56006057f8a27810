/** An auth.json as `codex login` leaves it, with tokens that nobody has signed. */

interface ChatGptLogin {
  file: string;
  access: string;
  refresh: string;
  /** What the token endpoint answers to a refresh. */
  answer: Record<string, string>;
}

let count = 0;

export const chatGptLogin = (o: {
  expiresInS: number;
  refreshedAt?: string;
  refresh?: string;
  account?: string;
}): ChatGptLogin => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const account = o.account ?? 'acct-1';
  const jwt = (more: object) =>
    [
      part({ alg: 'RS256', typ: 'JWT' }),
      part({
        email: 'a@example.com',
        exp: Math.floor(Date.now() / 1000) + o.expiresInS,
        'https://api.openai.com/auth': { chatgpt_plan_type: 'plus', chatgpt_account_id: account, chatgpt_user_id: 'u' },
        ...more,
      }),
      part({ signed: 'by nobody' }),
    ].join('.');
  const access = jwt({ n: ++count });
  const refresh = o.refresh ?? `rt-${String(count).padStart(20, '0')}`;
  const id_token = jwt({});
  const file = {
    auth_mode: 'chatgpt',
    OPENAI_API_KEY: null,
    tokens: { id_token, access_token: access, refresh_token: refresh, account_id: account },
    last_refresh: o.refreshedAt ?? new Date().toISOString(),
  };
  return {
    file: JSON.stringify(file, null, 2),
    access,
    refresh,
    answer: { id_token, access_token: access, refresh_token: refresh },
  };
};
