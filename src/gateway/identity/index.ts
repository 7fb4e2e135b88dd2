export { readFormerIds } from "./former-people.ts";
export { listOwnSessions } from "./list-own-sessions.ts";
export { buildPersonId, LOCAL_PERSON, listSessionPrefixes } from "./person-ids.ts";
