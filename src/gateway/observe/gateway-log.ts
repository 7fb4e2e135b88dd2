import { formatJsonLine, formatPrettyLine, type LogFields, type LogLevel } from "./log-line.ts";

/** Logs events as lines, without content of conversations. */
export interface GatewayLog {
  error(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  debug(event: string, fields?: LogFields): void;
}

/** The destination of lines: standard error, or any stream. */
interface LogStream {
  write(text: string): unknown;
  /** Characters waiting to be written. */
  readonly writableLength?: number;
}

export interface GatewayLogOptions {
  /** Called for each event, so that reloading the configuration takes effect. */
  readonly level: () => LogLevel;
  /** True if `content` is logged; false by default. */
  readonly content?: () => boolean;
  /** JSON by default; "pretty" is for terminals. */
  readonly form?: "json" | "pretty";
  readonly stream?: LogStream;
  readonly now?: () => Date;
}

const RANK: Readonly<Record<LogLevel, number>> = { silent: 0, error: 1, info: 2, debug: 3 };
const MAX_WAITING = 1024 * 1024;

/** A log on a stream. While more than 1 MiB waits to be written, lines are dropped and counted. */
export function createGatewayLog(options: GatewayLogOptions): GatewayLog {
  const {
    level,
    content = () => false,
    form = "json",
    stream = process.stderr,
    now = () => new Date(),
  } = options;
  const lineOf = form === "json" ? formatJsonLine : formatPrettyLine;
  let leftOut = 0;
  const write = (rank: "error" | "info" | "debug", event: string, fields: LogFields = {}) => {
    if (RANK[rank] > RANK[level()]) return;
    if ((stream.writableLength ?? 0) > MAX_WAITING) {
      leftOut++;
      return;
    }
    const time = now();
    if (leftOut > 0) {
      stream.write(
        `${lineOf({ time, level: "error", event: "log.left-out", fields: { count: leftOut } })}\n`,
      );
      leftOut = 0;
    }
    const shown = fields.content === undefined || content() ? fields : { ...fields, content: undefined };
    stream.write(`${lineOf({ time, level: rank, event, fields: shown })}\n`);
  };
  return {
    error: (event, fields) => write("error", event, fields),
    info: (event, fields) => write("info", event, fields),
    debug: (event, fields) => write("debug", event, fields),
  };
}
