import type { TextCodes } from "../text-codes.ts";
import { type FoundSecret, REDACTION_MARK, standsAt } from "./found-secret.ts";
import { isRandomLooking } from "./secret-value.ts";
import { Triples, tripleOf } from "./triples.ts";

/** A kind of secret that is recognized by its context. */
interface ContextSecret {
  readonly kind: string;
  /** The pattern is tried where one of these strings occurs, in any case. */
  readonly anchors: readonly string[];
  /**
   * A sticky pattern that matches from the anchor and looks behind for the characters before it. The secret is the last
   * group, preceded by the first of two groups, which ends at the anchor. The text of the last group must not occur
   * again later in the match. Every quantifier is bounded.
   */
  readonly pattern: RegExp;
  /** Final check of a match. */
  readonly isSecret?: (secret: string) => boolean;
}

const isNoTemplate = (secret: string) => !/^[<{[$%*]|\$\{|\$\(|\{\{|\*\*\*|\.\.\.|^x+$/i.test(secret);
const DATABASES =
  "postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql|sqlserver|clickhouse|cassandra|oracle|couchdb|nats|kafka|ldaps?";
const DIGITS = [..."0123456789"];

/** Secrets recognized by context. */
const CONTEXT_SECRETS: readonly ContextSecret[] = [
  {
    kind: "database-url",
    anchors: ["://"],
    // Few addresses have a password, so the characters after the anchor decide first.
    pattern: new RegExp(
      `://(?=[^\\s:/@"'<>]{0,128}:[^\\s/?#"'\`<>\\\\]{1,256}@)(?<=(?<![a-z])(?:${DATABASES})(?:\\+[a-z0-9]{1,16})?://)[^:]{0,128}:([^\\s/?#"'\`<>\\\\]{1,256})@`,
      "iy",
    ),
    isSecret: isNoTemplate,
  },
  {
    kind: "url-password",
    anchors: ["://"],
    pattern:
      /:\/\/(?=[^\s:/@"'<>]{0,256}:[^\s/?#"'`<>\\@]{1,256}@)(?<=(?<![a-z0-9])(?:https?|ftps?|sftp|ssh|git|smtps?|imaps?|socks5h?|wss?):\/\/)[^:]{0,256}:([^@]{1,256})@/iy,
    isSecret: isNoTemplate,
  },
  {
    kind: "url-password",
    anchors: ["://"],
    pattern: /:\/\/(?=[A-Za-z0-9_-]{20,256}@)(?<=(?<![a-z0-9])https?:\/\/)([^@]{20,256})@/iy,
    isSecret: isRandomLooking,
  },
  {
    kind: "bearer-token",
    anchors: ["bearer"],
    pattern: /(?<![A-Za-z])bearer(?:[ \t]|%20|\+){1,4}([A-Za-z0-9._~+/-]{16,4096}={0,2})/iy,
    isSecret: isRandomLooking,
  },
  {
    kind: "authorization",
    anchors: ["authorization"],
    pattern:
      /authorization\\{0,2}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,2}["']?(?:basic|token|apikey|digest|key|aws4-hmac-sha256)[ \t]{1,4}([A-Za-z0-9._~+/-]{8,4096}={0,2})/iy,
  },
  {
    kind: "basic-auth",
    anchors: [" ", "\t", "\n", "\r"].flatMap((space) => [`${space}-u`, `${space}--user`]),
    pattern: /\s(?:-u|--user)[ =]{0,2}["']?[\w.@+-]{1,64}:([^\s"'`:$<>{}]{4,128})/y,
    isSecret: (secret) => /\D/.test(secret) && isNoTemplate(secret),
  },
  {
    kind: "cookie",
    anchors: ["cookie:"],
    pattern:
      /(?<![A-Za-z])cookie:[ \t]{0,4}[\w.-]{1,64}=([^\s;"'\\]{16,4096}(?:;[ \t]?[\w.-]{1,64}=[^\s;"'\\]{1,4096}){0,32})/iy,
    isSecret: isRandomLooking,
  },
  {
    kind: "netrc-password",
    anchors: ["login"],
    pattern: /(?<![A-Za-z])login[ \t]{1,8}\S{1,128}\s{1,8}password[ \t]{1,8}(\S{4,256})/y,
    isSecret: isNoTemplate,
  },
  {
    kind: "azure-sas",
    anchors: ["sig="],
    pattern: /(?<=[?&])sig=([A-Za-z0-9%+/]{30,128}(?:=|%3D)?)/iy,
    isSecret: isRandomLooking,
  },
  {
    kind: "azure-shared-key",
    anchors: ["AccountKey=", "SharedAccessKey="],
    pattern: /(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,100}={0,2})/y,
  },
  {
    kind: "azure-client-secret",
    anchors: DIGITS.map((digit) => `${digit}Q~`),
    pattern: /(?<=(?:^|[^\w~.-]|\\[nrt])([\w~.-]{3}))(\dQ~[\w~.-]{31,34})(?![\w~-])/y,
  },
  {
    kind: "aws-signature",
    anchors: ["X-Amz-"],
    pattern: /X-Amz-(?:Signature|Security-Token)=([A-Za-z0-9%+/=]{32,4096})/y,
  },
  {
    kind: "telegram-token",
    anchors: [":AA"],
    pattern: /(?<=(?:^|[^A-Za-z0-9_-]|\\[nrt])(?:bot)?(\d{8,10}))(:AA[\w-]{32,34})(?![\w-])/y,
  },
  {
    kind: "terraform-token",
    anchors: [".atlasv1."],
    pattern: /(?<=(?:^|[^A-Za-z0-9]|\\[nrt])([A-Za-z0-9]{14}))(\.atlasv1\.[\w-]{40,100})/y,
  },
  {
    kind: "slack-webhook",
    anchors: ["hooks.slack.com/"],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9+/]{20,128})/y,
  },
  {
    kind: "cli-password",
    anchors: ["mysql", "mariadb"],
    pattern:
      /(?<![\w-])(?:mysql(?:dump|admin|import)?|mariadb(?:-dump|-admin)?)(?:[ \t]{1,4}(?!-p)[^\s|;&<>]{1,64}){0,12}[ \t]{1,4}-p([^\s"'`$<>{}-][^\s"'`<>{}]{3,127})/y,
  },
  {
    kind: "cli-password",
    anchors: ["sshpass"],
    pattern: /sshpass[ \t]{1,4}-p[ \t]{0,4}["']?([^\s"'`$<>{}][^\s"'`<>{}]{3,127})/y,
  },
  {
    kind: "cli-password",
    anchors: ["-pass"],
    pattern: /(?<=\s)-(?:pass|passin|passout)[ \t]{1,4}["']?pass:([^\s"'`$<>{}][^\s"'`<>{}]{3,127})/y,
  },
  {
    kind: "registry-auth",
    anchors: ['"auth', "_auth="],
    pattern: /(?:"auth\\?"\s{0,4}:\s{0,4}\\?"|_auth=["']?)([A-Za-z0-9+/]{12,512}={0,2})/y,
    isSecret: (secret) => /^[^\s:]{1,128}:\S{3}/.test(Buffer.from(secret, "base64").toString("latin1")),
  },
  {
    kind: "password-hash",
    anchors: [
      "$1$",
      "$2a",
      "$2b",
      "$2x",
      "$2y",
      "$5$",
      "$6$",
      "$7$",
      "$y$",
      "$gy",
      "$apr1",
      "$argon2",
      "$scrypt",
    ],
    pattern:
      /(?<![\w$])(\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2(?:id|i|d)|scrypt)\$[./A-Za-z0-9$=,+-]{20,200})/y,
    isSecret: (secret) => /\d/.test(secret.slice(4)) && secret.indexOf("$", 3) > 0,
  },
  {
    kind: "password-hash",
    anchors: ["{SHA", "{SSHA"],
    pattern: /\{S?SHA(?:256|512)?\}([A-Za-z0-9+/]{27,128}={0,2})/y,
  },
  {
    kind: "mnemonic",
    anchors: ["mnemonic", "seed", "recovery", "backup", "secret"],
    pattern:
      /(?:mnemonic|(?:seed|recovery|backup|secret)[ _-]?phrase)["']?[ \t]{0,4}(?:[:=]|is)[ \t]{0,4}["']?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})/iy,
  },
  {
    kind: "okta-token",
    anchors: ["SSWS "],
    pattern: /SSWS ([\w-]{20,80})/y,
  },
  {
    kind: "firebase-key",
    anchors: [":APA91"],
    pattern: /(?<=(?<![\w-])([\w-]{8,32}))(:APA91[\w-]{80,200})/y,
  },
  {
    kind: "discord-webhook",
    anchors: ["discord.com/", "discordapp.com/"],
    pattern: /discord(?:app)?\.com\/api\/webhooks\/(\d{10,24}\/[\w-]{40,128})/y,
  },
];

/** Anchors grouped by their first three characters; the number of a group is its index plus one. */
const GROUPS = [
  ...Map.groupBy(
    CONTEXT_SECRETS.flatMap((secret, kind) =>
      secret.anchors.map((anchor) => ({ anchor: anchor.toLowerCase(), secret, kind })),
    ),
    ({ anchor }) => tripleOf(anchor),
  ).values(),
];
const ANCHORS = new Triples(
  GROUPS.flatMap((group, index) => group.map(({ anchor }) => [anchor, index + 1] as const)),
);

/** Finds secrets by their context, in linear time. */
export function findInContext(text: string, codes: TextCodes): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  /** End of the last match of each kind, because matches of one kind do not overlap. */
  const ends = new Int32Array(CONTEXT_SECRETS.length);
  for (let at = ANCHORS.next(codes, text.length, 0); at >= 0; at = ANCHORS.next(codes, text.length, at + 1)) {
    for (const { anchor, secret, kind } of GROUPS[ANCHORS.numberAt(codes, at) - 1] ?? []) {
      if (at < (ends[kind] as number) || !standsAt(codes, at, anchor)) continue;
      secret.pattern.lastIndex = at;
      const match = secret.pattern.exec(text);
      if (!match) continue;
      ends[kind] = secret.pattern.lastIndex;
      const one = secretIn(match, secret);
      if (one) found.push(one);
    }
  }
  return found;
}

function secretIn(match: RegExpExecArray, { kind, isSecret }: ContextSecret): FoundSecret | undefined {
  const rest = match.at(-1) ?? "";
  const head = match.length > 2 ? (match[1] ?? "") : "";
  const secret = head + rest;
  if (match[0].includes(REDACTION_MARK) || (isSecret && !isSecret(secret))) return undefined;
  // The `d` flag would give the position, but runs the pattern a second time.
  const from = match.index + match[0].lastIndexOf(rest) - head.length;
  return { kind, from, to: from + secret.length, isCertain: false };
}
