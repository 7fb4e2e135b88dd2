import type { Usage } from "../../../model/usage.ts";
import type { WireEvent, WireObject } from "../../../wire/wire.ts";

/** Traffic of a provider in the format of the wire under test. */
export interface WireSample {
  /**
   * Elements of a request with the field `"x_unknown": "kept"` on a message and `"x_block": "kept"` on a block of
   * content, a call and its result.
   */
  readonly elements: readonly WireObject[];
  /** A streamed reply with text and a tool call. */
  readonly events: readonly WireEvent[];
  /** The same reply, not streamed. It reports more than 10 input tokens. */
  readonly body: WireObject;
  /** A usage report, and its counts. */
  readonly report: WireObject;
  readonly usage: Usage;
}
