import type { Kernel } from "../../kernel/index.ts";
import { computeDigest } from "../../model/base/digest.ts";
import { type ErasedPerson, hasBlob, isRecorded, listPersonSessions } from "./erase-person.ts";
import { digestCertificate, type ErasureCertificate } from "./erasure-certificate.ts";

/** The result of comparing a certificate with the store. */
interface ErasureCheck {
  /** Contradictions; empty if the certificate holds. */
  readonly problems: readonly string[];
  /** Changes since the erasure that do not contradict the certificate. */
  readonly notes: readonly string[];
}

/** Compares a certificate with the store: itself, the audit log, sessions, blobs, tokens and budgets, and files where they can be read. */
export async function verifyErasure(
  kernel: Kernel,
  person: ErasedPerson,
  certificate: ErasureCertificate,
): Promise<ErasureCheck> {
  const problems: string[] = [];
  const notes: string[] = [];
  if (certificate.digest !== digestCertificate(certificate))
    problems.push("the certificate was changed: its digest does not match its content");
  if (!(await isRecorded(kernel, certificate)))
    problems.push("the audit log of this store does not know the certificate");
  const broken = await kernel.team.verifyAudit();
  if (broken !== undefined) problems.push(`the audit log is broken: ${broken}`);
  const erased = new Set(certificate.sessions.map(({ id }) => id));
  for (const id of await listPersonSessions(kernel, person)) {
    const { createdAt = 0 } = (await kernel.find(id)) ?? {};
    if (erased.has(computeDigest(id)) && createdAt < certificate.finishedAt)
      problems.push("a conversation of the certificate is still in the store");
    else if (createdAt < certificate.finishedAt)
      problems.push("a conversation from before the erasure is in the store");
    else notes.push("the person has a conversation that began after the erasure");
  }
  for (const digest of certificate.blobs)
    if (await hasBlob(kernel, digest))
      notes.push(`blob ${digest.slice(0, 12)} was stored again after the erasure`);
  const now = await kernel.team.find(person.name);
  if (now && now.createdAt < certificate.finishedAt) problems.push("the person still has tokens or budgets");
  else if (now) notes.push("a person of the same name was added after the erasure");
  const left = await kernel.maintenance.searchFiles([...person.prefixes, `memory:${person.memoryAgent}`]);
  if (left && left.found.length > 0) {
    const text = `ids of the person's conversations are left in the files of ${left.found.join(", ")}; "longhaul gc --vacuum" rewrites them`;
    (certificate.scrubbed ? problems : notes).push(text);
  }
  if (left?.unread !== undefined) notes.push(`the files of the server were not read: ${left.unread}`);
  return { problems: [...new Set(problems)], notes: [...new Set(notes)] };
}
