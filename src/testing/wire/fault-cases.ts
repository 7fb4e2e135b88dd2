import assert from "node:assert/strict";
import type { WireEvent, WireFault } from "../../wire/wire.ts";
import type { WireProof } from "./wire-proof.ts";

const STATUSES: Readonly<Record<WireFault["kind"], number>> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  overflow: 400,
  rate_limit: 429,
  budget: 429,
  stopped: 400,
  unavailable: 503,
  timeout: 504,
  internal: 500,
};

const FAULTS = Object.entries(STATUSES).map(
  ([kind, status]): WireFault => ({
    kind: kind as WireFault["kind"],
    status,
    message: `failed: ${kind}`,
  }),
);

/** Splits a stream in wire format into its events. */
function parseEvents(text: string): readonly WireEvent[] {
  assert.ok(text.endsWith("\n\n"));
  return text
    .trimEnd()
    .split("\n\n")
    .map((block) => {
      const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
      const event = fields.get("event");
      return { data: fields.get("data") ?? "", ...(event !== undefined && { event }) };
    });
}

export const faultCases: readonly WireProof[] = [
  [
    "faults: the message of each is read back from its body",
    async (wire) => {
      for (const fault of FAULTS) {
        const failure = wire.parseFailure(fault.status, JSON.stringify(wire.encodeFault(fault)));
        assert.equal(failure.status, fault.status);
        assert.ok(failure.message?.includes(fault.message), fault.kind);
      }
    },
  ],
  [
    "faults: a body that is not JSON is kept as text",
    async (wire) => assert.deepEqual(wire.parseFailure(502, "<html>"), { status: 502, body: "<html>" }),
  ],
  [
    "faults: an error inside a stream ends the reply as failed",
    async (wire, { events }) => {
      for (const fault of FAULTS) {
        const reader = wire.createReader();
        reader.take(events[0] as WireEvent);
        for (const event of parseEvents(wire.encodeFaultEvent(fault))) reader.take(event);
        assert.ok(reader.failure?.message?.includes(fault.message), fault.kind);
        assert.equal(reader.isComplete, false);
      }
    },
  ],
];
