import type { Wire, WireName } from "../../wire/wire.ts";

export type {
  ClientMessage,
  DecodedMessage,
  LoadBase64,
  LoggedContent,
  ReplyReader,
  WireEvent,
  WireFault,
  WireObject,
} from "../../wire/wire.ts";

/** An API that the gateway serves: one for each wire. */
export type ApiName = WireName;

/** The wire of an API. */
export type Api = Wire;
