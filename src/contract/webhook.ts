/** Webhooks: an address of its own by which something outside gives an agent work. Its token is in the address, and shown once. */
export const webhookLimits = {
  perAgent: 50,
  nameChars: 200,
  /** Below it a secret can be guessed from one signed body. */
  secretChars: 16,
  perMinute: { default: 60, max: 6_000 },
  /** What a call may bring. */
  bodyBytes: 1024 * 1024,
} as const;

/** Times are wall-clock ms. */
export interface WebhookRow {
  id: string;
  agent_id: string;
  agent_name: string;
  name: string;
  /** What the agent is told; what the call brings follows it. */
  message: string;
  token_hash: string;
  /** First characters of the token, for people. */
  prefix: string;
  /** Of the signing secret; null = calls are not signed. */
  sealed: string | null;
  enabled: boolean;
  max_per_minute: number;
  timeout_s: number | null;
  created_by: string;
  created_at: number;
  last_called_at: number | null;
}
