/**
 * Time zones as programs print them, to names that the platform knows: IANA names, offsets (`GMT+2`, `UTC-03:30`), and the
 * abbreviations that mean one zone everywhere. `CST`, `IST`, `BST` and `AST` mean three zones each, and ICU would take the wrong
 * one without a word (BST as Dhaka, IST as India): they are null. Pure.
 */
import { isZone } from '../kernel/zone.ts';

/** Fixed offsets: an abbreviation names the time that clocks show, summer or not. `ET` and its like name the place. */
const abbreviations: Readonly<Record<string, string>> = {
  UTC: 'UTC',
  GMT: 'UTC',
  Z: 'UTC',
  UT: 'UTC',
  ET: 'America/New_York',
  CT: 'America/Chicago',
  MT: 'America/Denver',
  PT: 'America/Los_Angeles',
  EST: '-05:00',
  EDT: '-04:00',
  CDT: '-05:00',
  MST: '-07:00',
  MDT: '-06:00',
  PST: '-08:00',
  PDT: '-07:00',
  AKST: '-09:00',
  AKDT: '-08:00',
  HST: '-10:00',
  WET: 'UTC',
  WEST: '+01:00',
  CET: '+01:00',
  CEST: '+02:00',
  MEZ: '+01:00',
  MESZ: '+02:00',
  EET: '+02:00',
  EEST: '+03:00',
  MSK: '+03:00',
  JST: '+09:00',
  KST: '+09:00',
  SGT: '+08:00',
  AEST: '+10:00',
  AEDT: '+11:00',
  NZST: '+12:00',
  NZDT: '+13:00',
};

export const zoneNamed = (printed: string): string | null => {
  const name = printed.trim();
  if (Object.hasOwn(abbreviations, name.toUpperCase())) return abbreviations[name.toUpperCase()]!;
  const offset = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d\d))?$/i.exec(name);
  if (offset) {
    const [, sign, hours, minutes = '00'] = offset;
    return Number(hours) <= 14 && Number(minutes) < 60 ? `${sign}${hours!.padStart(2, '0')}:${minutes}` : null;
  }
  // So short and without a slash it is an abbreviation that is not in the table.
  return !/^[a-z]{1,4}$/i.test(name) && isZone(name) ? name : null;
};

/**
 * The zone that a program was given as `TZ`: a name, `:name` (a file), or nothing (UTC). Null: a rule of POSIX such as `EST5EDT` or
 * `UTC+2` (which is two hours behind), read by each runtime in its own way.
 */
export const zoneOfTz = (tz: string): string | null => {
  const name = tz.replace(/^:/, '');
  if (name === '') return 'UTC';
  return /^(Etc\/.*|[^\d+]*)$/.test(name) ? zoneNamed(name) : null;
};
