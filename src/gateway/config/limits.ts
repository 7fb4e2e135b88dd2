import { z } from "zod";
import { milliseconds, whole } from "./values.ts";

const MIB = 1_024 * 1_024;
const bytes = (max: number) => whole(1_024, max, "(bytes)");

/** Limits on memory, sizes, connections and waiting times. */
export const limitsSchema = z
  .strictObject(
    {
      maxBodyBytes: bytes(1_024 * MIB)
        .default(64 * MIB)
        .describe("maximum size of a request"),
      maxHeldBytes: bytes(64 * 1_024 * MIB)
        .default(256 * MIB)
        .describe("maximum bytes of all requests in progress; further large ones wait"),
      maxHeaderBytes: bytes(MIB)
        .default(64 * 1_024)
        .describe("maximum size of a request head"),
      headersMs: milliseconds().default(15_000).describe("maximum time to receive the head of a request"),
      bodyMs: milliseconds().default(120_000).describe("maximum time to receive a whole request"),
      connectMs: milliseconds().default(10_000).describe("maximum time to connect to an upstream"),
      firstByteMs: milliseconds().default(900_000).describe("maximum time until an upstream begins to reply"),
      idleMs: milliseconds().default(300_000).describe("maximum silence within a reply"),
      keepAliveMs: milliseconds().default(65_000).describe("time before an idle connection is closed"),
      drainMs: milliseconds()
        .default(30_000)
        .describe("maximum time for open requests to finish on shutdown"),
      maxConnections: whole(1, 1_000_000).default(4_096).describe("maximum simultaneous connections"),
      maxThreads: whole(1, 1_000_000)
        .default(1_000)
        .describe("maximum conversations in memory; name tables are sized accordingly"),
      maxThreadBytes: bytes(64 * 1_024 * MIB)
        .default(64 * MIB)
        .describe("maximum bytes of memory for all of them together"),
    },
    { error: "an object" },
  )
  .prefault({})
  .describe("limits");
