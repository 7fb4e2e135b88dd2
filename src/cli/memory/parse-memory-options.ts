import type { MemoryFilter, MemoryTrust, Validity } from "../../kernel/faces/memory.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseTime } from "../terminal/times.ts";
import { UsageError } from "../usage-error.ts";

const LEVELS: readonly MemoryTrust[] = ["user", "agent", "quoted", "rejected"];

/** Builds the filter for memories. */
export function buildMemoryFilter(trust: string | undefined, isOutdatedToo: boolean): MemoryFilter {
  const level = parseTrust(trust);
  return { ...dropUndefined({ trust: level }), ...(isOutdatedToo && { validAt: "ever" as const }) };
}

/** Parses --trust; undefined if it is absent. */
function parseTrust(text: string | undefined): MemoryTrust | undefined {
  if (text === undefined) return undefined;
  const level = LEVELS.find((one) => one === text);
  if (level === undefined)
    throw new UsageError(`--trust is ${JSON.stringify(text)}; expected ${LEVELS.join(", ")}`);
  return level;
}

/** Parses --from and --until. */
export function parseValidity({
  from,
  until,
}: {
  readonly from?: string;
  readonly until?: string;
}): Validity {
  const [start, end] = [parseDate("from", from), parseDate("until", until)];
  if (start !== undefined && end !== undefined && end <= start)
    throw new UsageError("--until is not after --from");
  return dropUndefined({ from: start, until: end });
}

function parseDate(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = parseTime(text);
  if (time === undefined || time < 0)
    throw new UsageError(
      `--${option} is ${JSON.stringify(text)}; expected a date, as 2026-12-31 or 2026-12-31T18:00`,
    );
  return time;
}
