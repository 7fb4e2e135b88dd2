import type { Fault } from "../api/api.ts";

/** Ends a request with a fault that the client is told. */
export class FaultError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, cause?: unknown) {
    super(fault.message, { cause });
    this.fault = fault;
  }
}
