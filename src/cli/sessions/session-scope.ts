import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { getStorePath } from "../open-store.ts";
import { UsageError } from "../usage-error.ts";

/** The option of commands that read on behalf of a person. */
export const PERSON_OPTION = {
  as: { type: "string", value: "PERSON", help: "only conversations of this person, as named by the gateway" },
} as const;

/** The sessions that a command may name, and the folder with the last listing. */
export interface SessionScope {
  readonly store: string;
  /** All ids begin with this; "" for the whole store. */
  readonly prefix: string;
}

/** Returns the scope of a command: the whole store, or the sessions of the person that --as names. */
export function getSessionScope(
  context: CliContext,
  options: CommonValues & { readonly as?: string },
): SessionScope {
  return { store: getStorePath(context, options), prefix: toPersonPrefix(options.as) };
}

/** Sessions of a person have ids that begin with `@name/`. */
function toPersonPrefix(person: string | undefined): string {
  if (person === undefined) return "";
  const name = person.replace(/^@/, "");
  if (name !== "" && !/[\s/]/.test(name)) return `@${name}/`;
  throw new UsageError(
    `--as is ${JSON.stringify(person)}; expected the name of a person, without spaces or slashes`,
  );
}
