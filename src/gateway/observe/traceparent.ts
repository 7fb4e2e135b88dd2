/** A position in a trace, as in W3C's traceparent. */
interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** The lowest bit is set if the trace is sampled. */
  readonly flags: number;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses a traceparent header; undefined if it is invalid, which starts a new trace. Versions after 00 may have more
 * fields.
 */
export function parseTraceParent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = FORM.exec(header?.trim() ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & 0xff };
}

/** Writes a traceparent header of version 00. */
export function formatTraceParent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${(flags & 1).toString(16).padStart(2, "0")}`;
}
