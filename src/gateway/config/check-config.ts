import { estimateTokenBits, MIN_TOKEN_BITS } from "./access-token.ts";
import type { GatewayConfig, TokenConfig } from "./config.ts";
import type { Environment } from "./config-flags.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { isLoopback } from "./loopback.ts";

const NEW_TOKEN = '"longhaul serve --new-token" makes a good one';

/** Problems between settings, or between settings and the environment, that are each valid on their own. */
export function checkConfig(config: GatewayConfig, env: Environment): readonly ConfigProblem[] {
  const { host, tokens, team, upstreams } = config;
  const problems = [
    ...tokens.flatMap((token, index) => findTokenProblems(token, index, env)),
    ...findRepeated(tokens, "name", "tokens"),
    ...findRepeated(upstreams, "name", "upstreams"),
    ...findRepeated(upstreams, "prefix", "upstreams"),
  ];
  const { warningBytes, criticalBytes } = config.monitor;
  if (warningBytes > criticalBytes)
    problems.push({
      key: "monitor.warningBytes",
      message: `monitor.warningBytes is ${warningBytes}; expected at most monitor.criticalBytes (${criticalBytes}).`,
    });
  if (!isLoopback(host) && tokens.length === 0 && !team) {
    problems.push({
      key: "host",
      message: `host is ${JSON.stringify(host)}, which others can reach, and there is no token; set LONGHAUL_TOKEN (${NEW_TOKEN}), set "team": true and add people with "longhaul token add", or leave host at 127.0.0.1.`,
    });
  }
  return problems;
}

/** Warnings about valid settings that are risky. */
export function findConfigWarnings({ upstreams }: GatewayConfig): readonly string[] {
  return upstreams.flatMap(({ name, baseUrl }) => {
    const { protocol, hostname } = new URL(baseUrl);
    const isOpen = protocol === "http:" && !isLoopback(hostname);
    return isOpen
      ? [`Upstream ${name} is reached without encryption (${baseUrl}); https:// hides keys.`]
      : [];
  });
}

function findTokenProblems(
  { env: variable, sha256 }: TokenConfig,
  index: number,
  env: Environment,
): readonly ConfigProblem[] {
  const key = `tokens[${index}]`;
  const problem = (message: string) => [{ key, message }];
  if ((variable === undefined) === (sha256 === undefined))
    return problem(`${key} needs either env, the variable that holds the token, or sha256, its digest.`);
  if (variable === undefined) return [];
  if (!/^[A-Za-z_]\w*$/.test(variable) || variable.length > 100)
    return problem(`${key}.env is no name of a variable; write the name there, never the token itself.`);
  const token = env[variable];
  if (!token) return problem(`${key}.env names ${variable}, which is not set; set it (${NEW_TOKEN}).`);
  if (!/^[\x21-\x7e]+$/.test(token))
    return problem(`${variable} holds characters that cannot stand in a header; ${NEW_TOKEN}.`);
  if (estimateTokenBits(token) < MIN_TOKEN_BITS)
    return problem(`${variable} is too easy to guess: less than ${MIN_TOKEN_BITS} bits; ${NEW_TOKEN}.`);
  return [];
}

function findRepeated<Field extends string>(
  things: readonly { readonly [Key in Field]?: string }[],
  field: Field,
  list: string,
): ConfigProblem[] {
  return things.flatMap((thing, index) => {
    const value = thing[field];
    const first = things.findIndex((one) => one[field] === value);
    if (value === undefined || first === index) return [];
    const key = `${list}[${index}].${field}`;
    const message = `${key} is ${JSON.stringify(value)}, as ${list}[${first}].${field} is; each needs its own.`;
    return [{ key, message }];
  });
}
