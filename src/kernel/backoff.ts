/** Retry distance: doubles from `baseMs` to `maxMs`, spread by a hash of the id: different for each row, the same on replay. */

/** FNV-1a, its bits mixed once more: it only spreads. */
const spreadOf = (text: string): number => {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
};

export const hashedBackoff = (id: string, attempt: number, baseMs = 5_000, maxMs = 300_000): number => {
  const whole = Math.min(maxMs, baseMs * 2 ** Math.max(0, attempt - 1));
  return Math.floor(whole * (0.5 + spreadOf(`${id}:${attempt}`) / 2));
};
