import type { TextCodes } from "../text-codes.ts";
import type { FoundSecret } from "./found-secret.ts";

/** Shorter words cannot be secrets and are skipped. */
const MIN_WORD = 16;
/** In longer words, secrets are searched only at the beginning. */
const MAX_INNER_CHARACTERS = 512;
/** Positions tried in one word after a false start. */
const MAX_TRIES = 16;

/** Characters of words: letters, digits, "_", ".", "~" and "-". */
const IS_WORD = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~-")
  IS_WORD[character.charCodeAt(0)] = 1;

function isWordCode(code: number): boolean {
  return code < 128 && IS_WORD[code] === 1;
}

/** Finds secrets by their prefix, in linear time. */
export function findPrefixed(text: string, codes: TextCodes): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  for (let at = 0; at < text.length; ) {
    const from = at;
    while (isWordCode(codes[at] as number)) at++;
    if (at - from < MIN_WORD) {
      if (at === from) at++;
      continue;
    }
    const secret = findSecretIn(text, codes, from, at);
    if (!secret) continue;
    found.push(secret);
    at = Math.max(at, secret.to);
  }
  return found;
}

function findSecretIn(text: string, codes: TextCodes, from: number, to: number): FoundSecret | undefined {
  const first = matchSecret(text, codes, from + countEscapeCharacters(text, from));
  if (typeof first === "object" || to - from > MAX_INNER_CHARACTERS)
    return typeof first === "object" ? first : undefined;
  let tries = 0;
  for (let at = from + 1; at < to && tries < MAX_TRIES; at++) {
    if (!isSeparator(codes[at - 1] as number)) continue;
    const inner = matchSecret(text, codes, at);
    if (typeof inner === "object") return inner;
    if (inner === "begins") tries++;
  }
  return undefined;
}

/** Characters at the start of a word that belong to an escape before it: the n of "\n", the 3D of "%3D". */
function countEscapeCharacters(text: string, from: number): number {
  const before = text.charAt(from - 1);
  if (before === "\\") return 1;
  return before === "%" ? 2 : 0;
}

function isSeparator(code: number): boolean {
  return code === 0x2d || code === 0x2e || code === 0x5f || code === 0x7e;
}

/** The secret at a position; "begins" if only a prefix matches. */
function matchSecret(text: string, codes: TextCodes, at: number): FoundSecret | "begins" | undefined {
  let begins: "begins" | undefined;
  for (const { kind, start, second, rest } of PREFIXED_SECRETS[codes[at] as number] ?? []) {
    if ((second !== undefined && codes[at + 1] !== second) || !text.startsWith(start, at)) continue;
    rest.lastIndex = at + start.length;
    if (rest.test(text)) return { kind, from: at, to: rest.lastIndex, isCertain: true };
    // Every other word starts with a one-letter prefix, and its pattern fails quickly.
    if (start.length > 1) begins = "begins";
  }
  return begins;
}

/** A kind of secret that is recognized by its prefix. */
interface PrefixedSecret {
  /** Appears in the placeholder: "[redacted:github-token]". */
  readonly kind: string;
  readonly start: string;
  /** The second character code of `start`, for a quick check that most words fail; undefined if there is none. */
  readonly second: number | undefined;
  /** A sticky pattern for the characters after `start`. */
  readonly rest: RegExp;
}

const WORD = "[A-Za-z0-9]";
const URL_SAFE = "[A-Za-z0-9_-]";
const HEX = "[a-fA-F0-9]";

/** Kind, prefixes, and the pattern after them. Every pattern is bounded or cannot fail after its longest run. */
const TABLE: readonly (readonly [kind: string, starts: readonly string[], rest: string])[] = [
  ["aws-access-key", ["AKIA", "ASIA", "ABIA", "ACCA"], "[A-Z0-9]{16}"],
  ["aws-bedrock-key", ["ABSK"], "[A-Za-z0-9+/]{80,400}={0,2}"],
  ["google-api-key", ["AIza"], `${URL_SAFE}{35}`],
  ["google-oauth-token", ["ya29."], `${URL_SAFE}{20,2000}`],
  ["google-client-secret", ["GOCSPX-"], `${URL_SAFE}{20,60}`],
  ["github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], `${WORD}{30,255}`],
  ["github-token", ["github_pat_"], "[A-Za-z0-9_]{22,255}"],
  [
    "gitlab-token",
    [
      "glpat-",
      "gldt-",
      "glrt-",
      "glptt-",
      "glcbt-",
      "glft-",
      "glimt-",
      "glagent-",
      "gloas-",
      "glsoat-",
      "glffct-",
    ],
    "[A-Za-z0-9_.-]{20,300}",
  ],
  [
    "slack-token",
    ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-", "xapp-"],
    "[A-Za-z0-9-]{10,250}",
  ],
  ["slack-token", ["xoxe-", "xoxe.xoxp-", "xoxe.xoxb-"], "[A-Za-z0-9-]{20,400}"],
  ["stripe-key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_"], `${WORD}{16,250}`],
  ["webhook-secret", ["whsec_"], "[A-Za-z0-9+/]{24,100}={0,2}"],
  ["anthropic-key", ["sk-ant-"], `${URL_SAFE}{9,300}`],
  ["openrouter-key", ["sk-or-"], `${URL_SAFE}{20,200}`],
  ["openai-key", ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], `${URL_SAFE}{20,300}`],
  ["openai-key", ["sk-"], `(?:${WORD}{1,12}-){0,2}${WORD}{20,200}`],
  ["huggingface-token", ["hf_", "api_org_"], `${WORD}{30,100}`],
  ["groq-key", ["gsk_"], `${WORD}{40,100}`],
  ["xai-key", ["xai-"], `${WORD}{40,150}`],
  ["nvidia-key", ["nvapi-"], `${URL_SAFE}{40,150}`],
  ["perplexity-key", ["pplx-"], `${WORD}{32,100}`],
  ["replicate-token", ["r8_"], `${WORD}{30,60}`],
  ["tavily-key", ["tvly-"], `${URL_SAFE}{20,80}`],
  ["langsmith-key", ["lsv2_pt_", "lsv2_sk_"], `[A-Za-z0-9_]{30,100}`],
  ["npm-token", ["npm_"], `${WORD}{36,100}`],
  ["pypi-token", ["pypi-AgE"], `${URL_SAFE}{40,1000}`],
  ["rubygems-key", ["rubygems_"], `${HEX}{40,60}`],
  ["nuget-key", ["oy2"], "[a-z0-9]{43}"],
  ["docker-token", ["dckr_pat_", "dckr_oat_"], `${URL_SAFE}{20,100}`],
  ["sendgrid-key", ["SG."], `${URL_SAFE}{16,32}\\.${URL_SAFE}{16,64}`],
  ["brevo-key", ["xkeysib-"], `${HEX}{64}-${WORD}{16}`],
  ["mailgun-key", ["key-"], "[a-f0-9]{32}"],
  ["twilio-key", ["SK"], "[a-f0-9]{32}"],
  ["digitalocean-token", ["dop_v1_", "doo_v1_", "dor_v1_"], "[a-f0-9]{64}"],
  ["databricks-token", ["dapi"], "[a-f0-9]{32}(?:-\\d)?"],
  ["shopify-token", ["shpat_", "shpca_", "shppa_", "shpss_"], `${HEX}{32}`],
  ["square-token", ["sq0atp-", "sq0csp-"], `${URL_SAFE}{22,60}`],
  ["supabase-key", ["sbp_", "sb_secret_"], `${URL_SAFE}{30,80}`],
  ["linear-key", ["lin_api_", "lin_oauth_"], `${WORD}{32,80}`],
  ["notion-token", ["ntn_", "secret_"], `${WORD}{40,60}`],
  ["figma-token", ["figd_"], `${URL_SAFE}{30,80}`],
  ["airtable-token", ["pat"], `${WORD}{14}\\.[a-f0-9]{64}`],
  ["postman-key", ["PMAK-"], `${HEX}{24}-${HEX}{34}`],
  ["grafana-token", ["glsa_", "glc_"], "[A-Za-z0-9_+/=]{32,400}"],
  ["newrelic-key", ["NRAK-"], "[A-Z0-9]{27}"],
  ["sentry-token", ["sntrys_", "sntryu_"], "[A-Za-z0-9_+/=]{40,400}"],
  ["doppler-token", ["dp.pt.", "dp.st.", "dp.ct."], "[A-Za-z0-9._]{40,80}"],
  ["vault-token", ["hvs.", "hvb.", "hvr."], `${URL_SAFE}{20,300}`],
  ["atlassian-token", ["ATATT3", "ATCTT3", "ATBB"], "[A-Za-z0-9_=+/-]{28,400}"],
  ["dropbox-token", ["sl."], `${URL_SAFE}{60,400}`],
  ["heroku-key", ["HRKU-"], `${URL_SAFE}{36,80}`],
  ["netlify-token", ["nfp_"], `${WORD}{36,60}`],
  ["planetscale-token", ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], "[A-Za-z0-9_.-]{30,80}"],
  ["fly-token", ["fm2_", "fo1_"], "[A-Za-z0-9_+/=-]{40,1000}"],
  ["pulumi-token", ["pul-"], "[a-f0-9]{40}"],
  ["tailscale-key", ["tskey-"], `[a-z]{3,12}-${URL_SAFE}{16,80}`],
  ["onepassword-token", ["ops_eyJ"], `${URL_SAFE}{100,2000}`],
  ["age-key", ["AGE-SECRET-KEY-1"], "[A-Z0-9]{58}"],
  ["jwt", ["eyJ"], `${URL_SAFE}{8,4096}\\.eyJ${URL_SAFE}{8,8192}\\.${URL_SAFE}{8,2048}`],
  [
    "discord-token",
    ["M", "N", "O"],
    `(?=[A-Za-z_-]{0,23}\\d)${URL_SAFE}{23,27}\\.${URL_SAFE}{6}\\.${URL_SAFE}{27,45}`,
  ],
];

const ALL: readonly PrefixedSecret[] = TABLE.flatMap(([kind, starts, rest]) =>
  starts.map((start) => ({
    kind,
    start,
    second: start.length > 1 ? start.charCodeAt(1) : undefined,
    rest: new RegExp(`(?:${rest})(?![A-Za-z0-9])`, "y"),
  })),
);

/** Kinds by the first character code of their prefix, longer prefixes first. */
const PREFIXED_SECRETS: readonly (readonly PrefixedSecret[])[] = Array.from({ length: 128 }, (_, code) =>
  ALL.filter(({ start }) => start.charCodeAt(0) === code).sort(
    (one, other) => other.start.length - one.start.length,
  ),
);
