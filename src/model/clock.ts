import { randomUUID } from "node:crypto";

/** Where time comes from; passed in so that tests can decide it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
}

/** Where names come from; passed in so that tests can decide them. */
export interface Ids {
  next(): string;
}

/** The computer's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Random UUIDs. */
export const randomIds: Ids = { next: () => randomUUID() };
