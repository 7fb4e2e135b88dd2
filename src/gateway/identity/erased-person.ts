import type { ErasedPerson } from "../../conversation/erasing/erase-person.ts";
import type { Kernel } from "../../index.ts";
import { buildPersonId } from "../../model/session-owner.ts";
import { readFormerIds } from "./former-people.ts";
import { getMemoryAgent, listSessionPrefixes } from "./person-ids.ts";

/** The places where content of a person is stored. */
export async function findErasedPerson(kernel: Kernel, name: string): Promise<ErasedPerson> {
  const id = buildPersonId(name);
  const formerIds = await readFormerIds(kernel, id);
  return { name, prefixes: listSessionPrefixes({ id, formerIds }), memoryAgent: getMemoryAgent({ id }) };
}
