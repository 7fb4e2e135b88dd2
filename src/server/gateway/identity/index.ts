export {
  findErasedPerson,
  getMemoryAgent,
  listOwnSessions,
  listSessionPrefixes,
  readFormerIds,
} from "./person-ids.ts";
