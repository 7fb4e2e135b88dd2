import { hash } from "node:crypto";

/** The tokens of two people who share a gateway. */
export const ALICE_TOKEN = "rK3vT9mQ2xL7wN5pB8dF4hJ6sZ1cY0aE";
export const BOB_TOKEN = "bZ8nM4kV6cX2qW9eR7tY5uI3oP1aS0dF";

/** The configuration of that gateway. */
export const TWO_PEOPLE = {
  tokens: [
    { name: "alice", sha256: hash("sha256", ALICE_TOKEN) },
    { name: "bob", sha256: hash("sha256", BOB_TOKEN) },
  ],
};
