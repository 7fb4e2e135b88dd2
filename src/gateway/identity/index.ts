export { readFormerIds } from "./former-people.ts";
export { listOwnSessions } from "./list-own-sessions.ts";
export { buildPersonId, getMemoryAgent, LOCAL_PERSON, listSessionPrefixes } from "./person-ids.ts";
