/**
 * The login of Codex with a ChatGPT plan, as `codex login` leaves it in auth.json. Kept whole as the CLI wrote it; only what tells
 * one login from another, and a newer one from an older, is read here. The CLI changes it when it refreshes: the refresh token is
 * used up then, and an old copy is worth nothing.
 */
import { z } from 'zod';

const AuthFile = z.object({
  tokens: z.object({
    access_token: z.string().min(1),
    refresh_token: z.string().min(1),
    id_token: z.string().nullish(),
    account_id: z.string().nullish(),
  }),
  last_refresh: z.string().nullish(),
});

interface CodexLogin {
  account: string | null;
  /** ms UTC; 0 when the file does not say. */
  refreshedAt: number;
  /** Values that nothing may show. */
  secrets: string[];
}

/** Null: not such a file, or one that is being written. */
export const readCodexLogin = (text: string): CodexLogin | null => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const file = AuthFile.safeParse(value).data;
  if (file === undefined) return null;
  const { access_token, refresh_token, id_token, account_id } = file.tokens;
  const at = Date.parse(file.last_refresh ?? '');
  return {
    account: account_id ?? null,
    refreshedAt: Number.isNaN(at) ? 0 : at,
    secrets: [access_token, refresh_token, ...(id_token ? [id_token] : [])],
  };
};
