// Numbers and times in words.
const MINUS = "\u2212";
const whole = new Intl.NumberFormat("en");
const PARTS = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
const moment = new Intl.DateTimeFormat("en-GB", { ...PARTS, year: "numeric", second: "2-digit" });
const recent = new Intl.DateTimeFormat("en-GB", PARTS);

export const count = (value) => whole.format(value);

export const number = (value, digits = 3) => (value == null ? "\u2013" : value.toFixed(digits).replace("-", MINUS));

export const signed = (value, digits = 3) => (value > 0 ? "+" : "") + number(value, digits);

export const percent = (value) => (value == null ? "\u2013" : `${(100 * value).toFixed(1)}\u00a0%`);

/** A lower bound, rounded down. */
export const atLeast = (value) => percent(Math.floor(1000 * value) / 1000);

export const interval = (low, high) => (low == null ? "\u2013" : `${percent(low)} to ${percent(high)}`);

export const when = (seconds) => moment.format(new Date(1000 * seconds));

/** The same in short. */
export const lately = (seconds) => recent.format(new Date(1000 * seconds));

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];

/** A length of time: "minute", "30 minutes". */
export function duration(seconds) {
  const [unit, size] = UNITS.find(([, size]) => seconds % size === 0) ?? UNITS.at(-1);
  return seconds === size ? unit : plural(seconds / size, unit);
}

export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
