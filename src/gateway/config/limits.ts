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
        .describe("largest request"),
      maxHeldBytes: bytes(64 * 1_024 * MIB)
        .default(256 * MIB)
        .describe("most bytes of all requests under way; further large ones wait"),
      maxHeaderBytes: bytes(MIB)
        .default(64 * 1_024)
        .describe("largest head of a request"),
      headersMs: milliseconds().default(15_000).describe("time for the head of a request to come in"),
      bodyMs: milliseconds().default(120_000).describe("time for a whole request to come in"),
      connectMs: milliseconds().default(10_000).describe("time to reach an upstream"),
      firstByteMs: milliseconds().default(900_000).describe("time until an upstream begins to answer"),
      idleMs: milliseconds().default(300_000).describe("longest silence within an answer"),
      keepAliveMs: milliseconds().default(65_000).describe("how long an idle connection stays open"),
      drainMs: milliseconds().default(30_000).describe("time for open requests to end on shutdown"),
      maxConnections: whole(1, 1_000_000).default(4_096).describe("most connections at once"),
      maxThreads: whole(1, 1_000_000)
        .default(1_000)
        .describe("most conversations held in memory; tables of names follow from it"),
      maxThreadBytes: bytes(64 * 1_024 * MIB)
        .default(64 * MIB)
        .describe("most bytes of memory that they may take together"),
    },
    { error: "an object" },
  )
  .prefault({})
  .describe("bounds");
