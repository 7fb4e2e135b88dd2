export { findMixedConversations } from "./mixed-conversations.ts";
export {
  findErasedPerson,
  getMemoryAgent,
  listOwnSessions,
  listSessionPrefixes,
  readFormerIds,
} from "./person-ids.ts";
