import type { WireFault } from "./wire.ts";

/** Ends a request with a fault that is reported to the client. */
export class FaultError extends Error {
  readonly fault: WireFault;

  constructor(fault: WireFault, cause?: unknown) {
    super(fault.message, { cause });
    this.fault = fault;
  }
}
