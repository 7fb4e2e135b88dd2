export { findErasedPerson } from "./erased-person.ts";
export { readFormerIds } from "./former-people.ts";
export { listOwnSessions } from "./list-own-sessions.ts";
export { getMemoryAgent, listSessionPrefixes } from "./person-ids.ts";
