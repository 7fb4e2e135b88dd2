import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { readOutsideFileSync } from "../../model/base/outside-file.ts";
import { erasePerson, requireErasable } from "../../server/erasing/erase-person.ts";
import {
  buildCertificateName,
  type ErasedCounts,
  type ErasureCertificate,
  formatCertificate,
  parseCertificate,
} from "../../server/erasing/erasure-certificate.ts";
import { verifyErasure } from "../../server/erasing/verify-erasure.ts";
import { findErasedPerson } from "../../server/gateway/identity/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { openExistingStore } from "../open-store.ts";
import { askYesNo } from "../terminal/ask-yes-no.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { printDone, printJson, printLines } from "../terminal/print-lines.ts";
import { UsageError } from "../usage-error.ts";
import { getActor } from "./person-options.ts";

interface ForgetPersonOptions extends CommonValues {
  readonly yes?: boolean;
  readonly certificate?: string;
}

/** Erases a person after a preview, and writes the certificate as JSON and as text. */
export async function forgetPerson(
  context: CliContext,
  name: string,
  options: ForgetPersonOptions,
): Promise<number> {
  await using kernel = await openExistingStore(context, options);
  const person = await findErasedPerson(kernel, name);
  const counts = await requireErasable(kernel, person);
  if (!options.yes && !(await isConfirmed(context, options, name, counts))) {
    if (options.json) await printJson(context, { person: name, isDryRun: true, counts });
    return EXIT.fine;
  }
  let files: readonly string[] = [];
  const deliver = (certificate: ErasureCertificate) => {
    files = writeCertificate(context, options.certificate, certificate);
  };
  const certificate = await erasePerson(kernel, person, { by: getActor(), deliver });
  await printDone(
    context,
    options,
    () => ({ person: name, isDryRun: false, files, certificate }),
    () => [
      ...formatCertificate(certificate).split("\n").map(escapeLine),
      `Written to ${files.map(escapeLine).join(" and ")}.`,
    ],
  );
  return EXIT.fine;
}

/** Compares a certificate with the store; ends with 3 if it does not hold. */
export async function verifyForgotten(
  context: CliContext,
  file: string,
  options: CommonValues,
): Promise<number> {
  const certificate = parseCertificate(readCertificate(context, file));
  await using kernel = await openExistingStore(context, options);
  const person = await findErasedPerson(kernel, certificate.person);
  const { problems, notes } = await verifyErasure(kernel, person, certificate);
  const isValid = problems.length === 0;
  if (options.json) await printJson(context, { person: certificate.person, isValid, problems, notes });
  else {
    const verdict = isValid
      ? `The certificate holds: nothing of ${escapeLine(certificate.person)} from before ${new Date(certificate.finishedAt).toISOString()} is in the store.`
      : "The certificate does not hold:";
    await printLines(context, [verdict, ...[...problems, ...notes].map((line) => `  ${escapeLine(line)}`)]);
  }
  return isValid ? EXIT.fine : EXIT.incomplete;
}

async function isConfirmed(
  context: CliContext,
  options: ForgetPersonOptions,
  name: string,
  { sessions, entries, memories, tasks, blobs, tokens, budgets }: ErasedCounts,
): Promise<boolean> {
  if (options.json) return false;
  const parts = [
    formatQuantity(sessions, "conversation"),
    formatQuantity(entries, "entry", "entries"),
    formatQuantity(memories, "memory", "memories"),
    formatQuantity(tasks, "task"),
    `up to ${formatQuantity(blobs, "blob")}`,
    formatQuantity(tokens, "token"),
    formatQuantity(budgets, "budget"),
  ];
  await printLines(context, [`Of ${escapeLine(name)} would be erased: ${parts.join(", ")}.`]);
  if (context.isTerminal.stdin && context.isTerminal.stdout)
    return askYesNo(context, "Erase them permanently?");
  await printLines(context, ["Nothing was erased; --yes erases them. There is no undo."]);
  return false;
}

function writeCertificate(
  { cwd }: CliContext,
  path: string | undefined,
  certificate: ErasureCertificate,
): readonly string[] {
  const file = resolve(cwd, path ?? buildCertificateName(certificate));
  const textFile = `${file.replace(/\.json$/, "")}.txt`;
  writeFileSync(file, `${JSON.stringify(certificate, null, 2)}\n`, { mode: 0o600 });
  writeFileSync(textFile, formatCertificate(certificate), { mode: 0o600 });
  return [file, textFile];
}

const MAX_CERTIFICATE_BYTES = 64 * 1_024 * 1_024;

function readCertificate({ cwd }: CliContext, file: string): string {
  try {
    return readOutsideFileSync(resolve(cwd, file), {
      maxBytes: MAX_CERTIFICATE_BYTES,
      allowsLink: true,
    }).toString("utf8");
  } catch {
    throw new UsageError(`--verify: ${file} cannot be read`);
  }
}
