import { z } from "zod";
import { millisecondsSchema, wholeSchema } from "./schema-values.ts";

const MIB = 1_024 * 1_024;
const bytes = (max: number) => wholeSchema(1_024, max, "(bytes)");

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
      headersMs: millisecondsSchema()
        .default(15_000)
        .describe("maximum time to receive the head of a request"),
      bodyMs: millisecondsSchema().default(120_000).describe("maximum time to receive a whole request"),
      connectMs: millisecondsSchema().default(10_000).describe("maximum time to connect to an upstream"),
      firstByteMs: millisecondsSchema()
        .default(900_000)
        .describe("maximum time until an upstream begins to reply"),
      idleMs: millisecondsSchema().default(300_000).describe("maximum silence within a reply"),
      keepAliveMs: millisecondsSchema().default(65_000).describe("time before an idle connection is closed"),
      drainMs: millisecondsSchema()
        .default(30_000)
        .describe("maximum time for open requests to finish on shutdown"),
      maxConnections: wholeSchema(1, 1_000_000).default(4_096).describe("maximum simultaneous connections"),
      maxPersonRequests: wholeSchema(1, 1_000_000)
        .default(256)
        .describe(
          "maximum requests in progress of one person with a token, at most a quarter of maxConnections",
        ),
      maxPersonStreams: wholeSchema(1, 1_000_000)
        .default(32)
        .describe("maximum open event streams of one person with a token"),
      maxPersonBytes: bytes(1_024 * 1_024 * MIB)
        .default(1_024 * MIB)
        .describe(
          "maximum bytes that one person with a token stores in a day, through the API and by new messages of conversations",
        ),
      maxThreads: wholeSchema(1, 1_000_000)
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
