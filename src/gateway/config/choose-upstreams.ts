import { findNearestWords } from "../../model/edit-distance.ts";
import type { UpstreamConfig } from "./config.ts";
import type { ConfigFlags, Environment } from "./config-flags.ts";
import type { ValueOrigin } from "./schema-problems.ts";
import { API_NAMES } from "./schema-values.ts";
import { configureUpstream, WELL_KNOWN_UPSTREAMS } from "./well-known-upstreams.ts";

const VARIABLE = "LONGHAUL_UPSTREAM";

interface AddressChoice {
  /** Undefined for the upstream that takes all requests. */
  readonly name: string | undefined;
  readonly baseUrl: string;
  readonly label: string;
  readonly from: "flags" | "environment";
}

/** The list of upstreams after applying options and environment variables. */
interface ChosenUpstreams {
  readonly upstreams: readonly unknown[];
  /** The option or variable that set an address, by key. */
  readonly given: ReadonlyMap<string, ValueOrigin>;
  readonly from: "flags" | "environment" | undefined;
  readonly warnings: readonly string[];
}

/** Applies the addresses given by options and variables to a list of upstreams, which is not validated yet. */
export function chooseUpstreams(
  listed: readonly unknown[],
  flags: ConfigFlags,
  env: Environment,
): ChosenUpstreams {
  const choices = [...readEnvironment(env), ...readFlags(flags)];
  const given = new Map<string, ValueOrigin>();
  const warnings: string[] = [];
  let upstreams = [...listed];
  for (const { name, baseUrl, label } of choices) {
    if (name === undefined) upstreams = [{ name: "upstream", baseUrl, apis: API_NAMES }];
    else {
      const index = upstreams.findIndex((one) => isNamed(one, name));
      const own = index === -1 ? buildNamedUpstream(name, env) : (upstreams[index] as object);
      upstreams.splice(index === -1 ? upstreams.length : index, 1, { ...own, baseUrl });
      const [nearest] =
        index === -1 && !findWellKnown(name)
          ? findNearestWords(
              name,
              WELL_KNOWN_UPSTREAMS.map((one) => one.name),
            )
          : [];
      if (nearest !== undefined) {
        warnings.push(`${label} makes an upstream of its own; did you mean ${nearest}?`);
      }
    }
    const at = name === undefined ? 0 : upstreams.findIndex((one) => isNamed(one, name));
    if (name === undefined) given.clear();
    given.set(`upstreams[${at}].baseUrl`, { label });
  }
  return { upstreams, given, from: choices.at(-1)?.from, warnings };
}

function readFlags({ upstream = [] }: ConfigFlags): readonly AddressChoice[] {
  const choices = upstream.map((words): AddressChoice => {
    const [, name, baseUrl = words] = /^([\w.-]+)=(.*)$/s.exec(words) ?? [];
    return { name, baseUrl, label: name === undefined ? "--upstream" : `--upstream ${name}`, from: "flags" };
  });
  return sortCatchAllFirst(choices);
}

function readEnvironment(env: Environment): readonly AddressChoice[] {
  const choices = Object.entries(env).flatMap(([variable, baseUrl]): readonly AddressChoice[] => {
    if (!baseUrl || (variable !== VARIABLE && !variable.startsWith(`${VARIABLE}_`))) return [];
    const name = variable === VARIABLE ? undefined : variable.slice(VARIABLE.length + 1).toLowerCase();
    return [{ name, baseUrl, label: variable, from: "environment" }];
  });
  return sortCatchAllFirst(choices);
}

/** Sorts the upstream that takes all requests first, because it replaces the list. */
function sortCatchAllFirst(choices: readonly AddressChoice[]): readonly AddressChoice[] {
  return choices.toSorted((one, other) => Number(one.name !== undefined) - Number(other.name !== undefined));
}

function buildNamedUpstream(name: string, env: Environment): Partial<UpstreamConfig> {
  const known = findWellKnown(name);
  return known ? configureUpstream(known, env) : { name, apis: API_NAMES, prefix: `${name}/` };
}

function findWellKnown(name: string) {
  return WELL_KNOWN_UPSTREAMS.find((one) => normalizeName(one.name) === normalizeName(name));
}

function isNamed(one: unknown, name: string): boolean {
  const own = (one as { readonly name?: unknown } | null)?.name;
  return typeof own === "string" && normalizeName(own) === normalizeName(name);
}

/** A name in the form that an environment variable can contain. */
function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "_");
}
