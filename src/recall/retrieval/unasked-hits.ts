import { checkList } from "../../model/argument-checks.ts";
import type { Hit } from "../hit.ts";
import { findDecisions } from "../text/decisions.ts";

/** A program that is fetched and run, or run with the rights of the system. */
const COMMAND =
  /\b(?:curl|wget|iwr|irm|invoke-\w+|fetch|base64|xxd)\b[^\n]{0,400}(?:\||&&|;|>\s*\S+)\s*(?:sudo\s+)?(?:\S*\/)?(?:ba|z|da|fi|k)?sh\b|\b(?:ba|z|da|k)?sh\s+(?:-c\b|<\()|\b(?:eval|exec|source)\s*[("'`$<]|\biex\b|\bsudo\s+\S|\brm\s+-\w*r|\bchmod\s+\S*[+7]|\bnpx?\s+(?:-y\s+)?\S*(?:install|exec)?\b.{0,80}https?:|\bpip3?\s+install\s+\S*(?:https?:|git\+)/i;
/** Wordings in which a page or a file gives its reader instructions. */
const ADDRESS =
  /\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+)*(?:previous|prior|earlier|above|former)\b|\b(?:note|message|instructions?|attention|reminder)\s+(?:to|for)\s+(?:all\s+|any\s+|the\s+)*(?:agents?|assistants?|ai|models?|llms?|developers?)\b|\b(?:you|agents?|assistants?|everyone|all builds?)\s+(?:must|should|shall|need to|have to|are (?:required|asked|instructed) to)\b|\b(?:the|this|our)\s+(?:user|owner|maintainer|team|person)s?\s+(?:prefers?|wants?|asks?|asked|requires?|agreed|decided|approved)\b|\b(?:important|mandatory|required|attention)\s*[:!]|\b(?:before|after)\s+(?:any|every|each|all)\s+\w+|\bas\s+(?:we\s+)?(?:agreed|discussed|decided)\b|\b(?:always|never|please|first|then|now|simply|just|to)\s+(?:run|execute|paste|type|install|download|trust|disable|skip|verify|use)\b/i;
const CLEAR = 2;

/**
 * The hits that may be given to somebody who has not asked for them by name: words of people and agents first, and
 * tool output only where it states facts. Output of a tool may be the text of a page, an issue or a file that a
 * stranger wrote; as a decision, an instruction or a command it would pass for the person's own.
 */
export function pickUnaskedHits(hits: readonly Hit[]): readonly Hit[] {
  checkList("hits", hits, { kind: "text", text: "text" });
  return putStatementsFirst(hits.filter(mayBeGiven));
}

/** The hits with tool output behind all others, which otherwise keep their order. */
export function putStatementsFirst(hits: readonly Hit[]): readonly Hit[] {
  return [...hits.filter((hit) => !isToolOutput(hit)), ...hits.filter(isToolOutput)];
}

function mayBeGiven(hit: Hit): boolean {
  const isSaid = hit.kind === "session" && hit.author !== "tool" && hit.place !== "working-tree";
  if (!isSaid) return !readsAsInstruction(hit.text);
  // A folder that was named may be the person's own backup, or somebody else's: its decisions are quoted with their
  // place, its commands and orders are not.
  return hit.place !== "elsewhere" || !readsAsOrder(hit.text);
}

function isToolOutput(hit: Hit): boolean {
  return hit.kind === "session" && hit.author === "tool" && !hit.memory;
}

/** True for a text that decides, instructs, or runs a fetched program. */
function readsAsInstruction(text: string): boolean {
  return readsAsOrder(text) || findDecisions(text).some(({ strength }) => strength >= CLEAR);
}

function readsAsOrder(text: string): boolean {
  return COMMAND.test(text) || ADDRESS.test(text);
}
