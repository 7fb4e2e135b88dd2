import { randomUUID } from "node:crypto";

/** Source of time; injected so that tests can control it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
}

/** Source of ids; injected so that tests can control them. */
export interface Ids {
  next(): string;
}

/** The system clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Random UUIDs. */
export const randomIds: Ids = { next: () => randomUUID() };
