const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats the age of a time in one unit: "3 min ago", "2 days ago". */
export function formatAgo(at: number, now: number): string {
  const ms = now - at;
  if (ms < MINUTE) return "just now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  const days = Math.floor(ms / DAY);
  if (days < 60) return days === 1 ? "1 day ago" : `${days} days ago`;
  return days < 730 ? `${Math.floor(days / 30)} months ago` : `${Math.floor(days / 365)} years ago`;
}

/** Formats a duration in one or two units: "8 s", "2 min 5 s", "3 h 20 min". */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats a date and time in the local time zone: "2026-11-01 12:00:03". */
export function formatTime(at: number): string {
  const time = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/** Formats the age of a time in at most four columns: "now", "3m", "5h", "12d", "2y". */
export function formatAge(at: number, now: number): string {
  const ms = now - at;
  if (ms < MINUTE) return "now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`;
  const days = Math.floor(ms / DAY);
  return days < 730 ? `${days}d` : `${Math.floor(days / 365)}y`;
}
