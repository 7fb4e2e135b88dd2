import { looksRandom } from "./secret-value.ts";

/** A kind of secret that is recognized by its context. */
export interface ContextSecret {
  readonly kind: string;
  /** The pattern is skipped for texts that contain none of these. */
  readonly hints: readonly string[];
  /** The group "secret" is redacted and must not occur again later in the match. Every quantifier is bounded. */
  readonly pattern: RegExp;
  /** Final check of a match. */
  readonly isSecret?: (secret: string) => boolean;
}

const isNoTemplate = (secret: string) => !/^[<{[$%*]|\$\{|\$\(|\{\{|\*\*\*|\.\.\.|^x+$/i.test(secret);
const DATABASES =
  "postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql|sqlserver|clickhouse|cassandra|oracle|couchdb|nats|kafka|ldaps?";

/** Secrets recognized by context. */
export const CONTEXT_SECRETS: readonly ContextSecret[] = [
  {
    kind: "database-url",
    hints: ["://"],
    pattern: new RegExp(
      `(?<![a-z])(?:${DATABASES})(?:\\+[a-z0-9]{1,16})?://[^\\s:/@"'<>]{0,128}:(?<secret>[^\\s/?#"'\`<>\\\\]{1,256})@`,
      "gi",
    ),
    isSecret: isNoTemplate,
  },
  {
    kind: "url-password",
    hints: ["://"],
    pattern:
      /(?<![a-z0-9])(?:https?|ftps?|sftp|ssh|git|smtps?|imaps?|socks5h?|wss?):\/\/[^\s:/@"'<>]{0,256}:(?<secret>[^\s/?#"'`<>\\@]{1,256})@/gi,
    isSecret: isNoTemplate,
  },
  {
    kind: "url-password",
    hints: ["://"],
    pattern: /(?<![a-z0-9])https?:\/\/(?<secret>[A-Za-z0-9_-]{20,256})@/gi,
    isSecret: looksRandom,
  },
  {
    kind: "bearer-token",
    hints: ["earer", "EARER"],
    pattern: /(?<![A-Za-z])bearer(?:[ \t]|%20|\+){1,4}(?<secret>[A-Za-z0-9._~+/-]{16,4096}={0,2})/gi,
    isSecret: looksRandom,
  },
  {
    kind: "authorization",
    hints: ["uthorization", "UTHORIZATION"],
    pattern:
      /authorization\\{0,2}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,2}["']?(?:basic|token|apikey|digest|key|aws4-hmac-sha256)[ \t]{1,4}(?<secret>[A-Za-z0-9._~+/-]{8,4096}={0,2})/gi,
  },
  {
    kind: "basic-auth",
    hints: [" -u", "--user"],
    pattern: /(?<=\s)(?:-u|--user)[ =]{0,2}["']?[\w.@+-]{1,64}:(?<secret>[^\s"'`:$<>{}]{4,128})/g,
    isSecret: (secret) => /\D/.test(secret) && isNoTemplate(secret),
  },
  {
    kind: "cookie",
    hints: ["ookie:", "OOKIE:"],
    pattern:
      /(?<![A-Za-z])(?:set-)?cookie:[ \t]{0,4}[\w.-]{1,64}=(?<secret>[^\s;"'\\]{16,4096}(?:;[ \t]?[\w.-]{1,64}=[^\s;"'\\]{1,4096}){0,32})/gi,
    isSecret: looksRandom,
  },
  {
    kind: "netrc-password",
    hints: ["login"],
    pattern: /(?<![A-Za-z])login[ \t]{1,8}\S{1,128}\s{1,8}password[ \t]{1,8}(?<secret>\S{4,256})/g,
    isSecret: isNoTemplate,
  },
  {
    kind: "azure-sas",
    hints: ["sig="],
    pattern: /[?&]sig=(?<secret>[A-Za-z0-9%+/]{30,128}(?:=|%3D)?)/gi,
    isSecret: looksRandom,
  },
  {
    kind: "azure-shared-key",
    hints: ["AccountKey=", "AccessKey="],
    pattern: /(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{40,100}={0,2})/g,
  },
  {
    kind: "azure-client-secret",
    hints: ["Q~"],
    pattern: /(?<=^|[^\w~.-]|\\[nrt])(?<secret>[\w~.-]{3}\dQ~[\w~.-]{31,34})(?![\w~-])/g,
  },
  {
    kind: "aws-signature",
    hints: ["X-Amz-"],
    pattern: /X-Amz-(?:Signature|Security-Token)=(?<secret>[A-Za-z0-9%+/=]{32,4096})/g,
  },
  {
    kind: "telegram-token",
    hints: [":AA"],
    pattern: /(?<=^|[^A-Za-z0-9_-]|\\[nrt])(?:bot)?(?<secret>\d{8,10}:AA[\w-]{32,34})(?![\w-])/g,
  },
  {
    kind: "terraform-token",
    hints: [".atlasv1."],
    pattern: /(?<=^|[^A-Za-z0-9]|\\[nrt])(?<secret>[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,100})/g,
  },
  {
    kind: "slack-webhook",
    hints: ["hooks.slack.com/"],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[A-Za-z0-9+/]{20,128})/g,
  },
  {
    kind: "cli-password",
    hints: ["mysql", "mariadb"],
    pattern:
      /(?<![\w-])(?:mysql(?:dump|admin|import)?|mariadb(?:-dump|-admin)?)(?:[ \t]{1,4}(?!-p)[^\s|;&<>]{1,64}){0,12}[ \t]{1,4}-p(?<secret>[^\s"'`$<>{}-][^\s"'`<>{}]{3,127})/g,
  },
  {
    kind: "cli-password",
    hints: ["sshpass"],
    pattern: /sshpass[ \t]{1,4}-p[ \t]{0,4}["']?(?<secret>[^\s"'`$<>{}][^\s"'`<>{}]{3,127})/g,
  },
  {
    kind: "cli-password",
    hints: ["pass:"],
    pattern:
      /(?<=\s)-(?:pass|passin|passout)[ \t]{1,4}["']?pass:(?<secret>[^\s"'`$<>{}][^\s"'`<>{}]{3,127})/g,
  },
  {
    kind: "registry-auth",
    hints: ['auth"', 'auth\\"', "_auth"],
    pattern: /(?:"auth\\?"\s{0,4}:\s{0,4}\\?"|_auth=["']?)(?<secret>[A-Za-z0-9+/]{12,512}={0,2})/g,
    isSecret: (secret) => /^[^\s:]{1,128}:\S{3}/.test(Buffer.from(secret, "base64").toString("latin1")),
  },
  {
    kind: "password-hash",
    hints: ["$"],
    pattern:
      /(?<![\w$])(?<secret>\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2(?:id|i|d)|scrypt)\$[./A-Za-z0-9$=,+-]{20,200})/g,
    isSecret: (secret) => /\d/.test(secret.slice(4)) && secret.indexOf("$", 3) > 0,
  },
  {
    kind: "password-hash",
    hints: ["SHA}"],
    pattern: /\{S?SHA(?:256|512)?\}(?<secret>[A-Za-z0-9+/]{27,128}={0,2})/g,
  },
  {
    kind: "mnemonic",
    hints: ["nemonic", "hrase", "NEMONIC", "HRASE"],
    pattern:
      /(?:mnemonic|(?:seed|recovery|backup|secret)[ _-]?phrase)["']?[ \t]{0,4}(?:[:=]|is)[ \t]{0,4}["']?(?<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})/gi,
  },
  {
    kind: "okta-token",
    hints: ["SSWS "],
    pattern: /SSWS (?<secret>[\w-]{20,80})/g,
  },
  {
    kind: "firebase-key",
    hints: [":APA91"],
    pattern: /(?<![\w-])(?<secret>[\w-]{8,32}:APA91[\w-]{80,200})/g,
  },
  {
    kind: "discord-webhook",
    hints: ["/api/webhooks/"],
    pattern: /discord(?:app)?\.com\/api\/webhooks\/(?<secret>\d{10,24}\/[\w-]{40,128})/g,
  },
];
