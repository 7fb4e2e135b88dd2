import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { resolve, sep } from "node:path";
import { checkFields } from "../model/argument-checks.ts";
import { createArgumentError, LonghaulError } from "../model/errors.ts";

/** Folders of other machines, and the checkouts on this machine that stand for them. */
export type Checkouts = Readonly<Record<string, string>>;

/** Returns the checkouts; throws ARGUMENT_INVALID unless every name and every value is a folder's path. */
export function checkCheckouts(checkouts: Checkouts): Checkouts {
  checkFields("checkouts", checkouts);
  for (const [from, to] of Object.entries(checkouts))
    if (from === "" || typeof to !== "string" || to === "")
      throw createArgumentError("checkouts", { [from]: to }, "paths of folders there and here");
  return checkouts;
}

/** The folder on this machine that stands for a folder of a task; throws CHECKOUT_MISSING if it does not exist. */
export function findCheckout(folder: string, checkouts: Checkouts = {}): string {
  const place = toLocalFolder(folder, checkouts);
  if (existsSync(place)) return place;
  const through = place === folder ? "" : ` (for ${folder})`;
  throw new LonghaulError(
    "CHECKOUT_MISSING",
    `The folder ${place}${through} does not exist on ${hostname()}, where a worker runs the task. Check the repository out there, or start the worker with --checkout ${folder}=FOLDER.`,
    { details: { folder: place, host: hostname() } },
  );
}

/** The longest matching folder counts. */
function toLocalFolder(folder: string, checkouts: Checkouts): string {
  const matches = Object.keys(checkouts)
    .filter((from) => folder === from || folder.startsWith(from.endsWith(sep) ? from : `${from}${sep}`))
    .sort((one, other) => other.length - one.length);
  const [from] = matches;
  if (from === undefined) return folder;
  return resolve(checkouts[from] as string, `.${sep}${folder.slice(from.length)}`);
}
