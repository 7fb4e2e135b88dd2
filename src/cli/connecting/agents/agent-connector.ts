import type { GatewayAddress } from "../../../server/gateway/index.ts";
import type { CliContext } from "../../cli-context.ts";
import type { ConfigSyntax, SettingPath, SettingValue } from "../syntax/config-syntax.ts";

/** The user's folders, variables and system. */
export type UserPlace = Pick<CliContext, "home" | "env" | "platform">;

/** A setting to write. */
export interface Setting {
  readonly path: SettingPath;
  readonly value: SettingValue;
}

/** Settings that point an agent at the gateway. */
interface SettingsPlan {
  readonly settings: readonly Setting[];
  /** Sentences for the user: remaining steps, and effects on other settings. */
  readonly notes: readonly string[];
}

/** Instructions for a connection that only the user can make. */
interface ManualPlan {
  readonly instructions: string;
}

/** A feature of an agent that another address changes, as its own program decides. */
export interface FeatureChange {
  readonly feature: string;
  readonly remedy: string;
}

/** Read access to a configuration file. */
export interface ConfigReader {
  findString(path: SettingPath): string | undefined;
  /** The source text of a value. */
  findRaw(path: SettingPath): string | undefined;
  has(path: SettingPath): boolean;
  listNames(path: SettingPath): readonly string[];
}

/** Knowledge of one agent's configuration. */
export interface AgentConnector {
  readonly name: string;
  /** The name for people, as in the agent lines of the gateway. */
  readonly title: string;
  /** Names of its programs on the search path. */
  readonly programs: readonly string[];
  /** Files and folders that exist only if the agent is used here. */
  listTraces(place: UserPlace): readonly string[];
  /** Absent if the agent has no configuration file that longhaul can edit. */
  readonly file?: ConfigFileSpec;
  /** For an agent without such a file. */
  readonly instruct?: (gateway: GatewayAddress) => string;
  /** Features that the agent changes by itself at another address, as its file stands; absent if none. */
  listFeatureChanges?(fileText: string): readonly FeatureChange[];
  /** Reason why the gateway cannot serve the agent at all. */
  readonly unsupported?: string;
}

/** The configuration file of an agent. */
export interface ConfigFileSpec {
  readonly syntax: ConfigSyntax;
  /** Candidates in the agent's order of precedence; the first that exists is edited, otherwise the first is created. */
  listPaths(place: UserPlace): readonly string[];
  plan(reader: ConfigReader, gateway: GatewayAddress, place: UserPlace): SettingsPlan | ManualPlan;
}

/** The header in which agents send the gateway's token. */
export const TOKEN_HEADER = "x-longhaul-token";

/** The address of the gateway for clients that expect the version in it. */
export function toVersionedUrl({ url }: GatewayAddress): string {
  return `${url}/v1`;
}

/** A note for an address that the connection replaces; undefined if it is the provider's own or the gateway's. */
export function describeReplacedUrl(
  previous: string | undefined,
  upstream: "anthropic" | "openai",
  gateway: GatewayAddress,
): readonly string[] {
  if (previous === undefined || previous.startsWith(gateway.url)) return [];
  if (/^https:\/\/api\.(?:anthropic|openai)\.com(?:\/|$)/.test(previous)) return [];
  return [
    `Requests went to ${previous}. Start the gateway with --upstream ${upstream}=${previous} to keep that provider.`,
  ];
}
