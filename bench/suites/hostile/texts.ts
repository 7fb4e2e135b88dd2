/** A text designed to be slow to process. */
export interface HostileText {
  readonly name: string;
  /** Creates a text of about `characters` characters. */
  make(characters: number): string;
}

const repeated = (name: string, piece: string): HostileText => ({
  name,
  make: (characters) => piece.repeat(Math.ceil(characters / piece.length)).slice(0, characters),
});

/** A repeatable sequence of numbers below `below`. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % below;
  };
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

function randomWord(next: (below: number) => number, length: number): string {
  let word = "";
  for (let at = 0; at < length; at++) word += LETTERS.charAt(next(LETTERS.length));
  return word;
}

/** Hard inputs for patterns, splitters and counters: long runs, beginnings without ends, and very many matches. */
export const HOSTILE_TEXTS: readonly HostileText[] = [
  repeated("key beginnings", "-----BEGIN PRIVATE KEY-----\n"),
  repeated("key beginnings, base64", `-----BEGIN PRIVATE KEY-----\n${"QUJD".repeat(16)}\n`),
  repeated("key beginnings, no end", `-----BEGIN RSA PRIVATE KEY-----${"A ".repeat(40)}`),
  repeated("token:", "token:"),
  repeated("secret=", "secret= "),
  repeated("password words", "password_password-"),
  repeated("api_key quotes", "api_key\\\"'"),
  repeated("--token", "--token "),
  { name: "one word", make: (characters) => "a".repeat(characters) },
  { name: "one line of figures", make: (characters) => "7".repeat(characters) },
  repeated("eyJ.", "eyJaaaaaaaa."),
  repeated("eyJ without dots", "eyJaaaaaaaa-"),
  repeated("sk-", "sk-aaaaaaaaaa-"),
  repeated("M discord", "Maaaaaaaaaaaaaaaaaaaaaaa-"),
  repeated("://:@", "https://a:b/"),
  repeated("database addresses", "postgres://a:"),
  repeated("bearer", "Bearer aaaaaaaaaaaaaaaa"),
  repeated("bearer, spaces", "bearer    "),
  repeated("cookies", "cookie: a=bbbbbbbbbbbbbbbb; "),
  repeated("one cookie", "Cookie: a="),
  repeated("login", "login a password "),
  repeated("login, spaces", "login        "),
  repeated("-u", " -u a:"),
  repeated("sig=", "?sig=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
  repeated("hidden marks", "[redacted:jwt]"),
  repeated("white space", " "),
  repeated("tabs and lines", "\t\n"),
  repeated("line ends", "\r\n"),
  repeated("opening tags", "<a "),
  repeated("unclosed tags", "<system-reminder>x"),
  repeated("brackets", "([{"),
  repeated("quotes", "\"'`"),
  repeated("backslashes", "\\"),
  repeated("slashes", "/"),
  repeated("dots", "."),
  repeated("hyphens", "-"),
  repeated("underscores", "_"),
  repeated("hashes", "#"),
  repeated("backticks", "```\n"),
  repeated("paths", "a/b.c/"),
  repeated("one path", "src/"),
  repeated("hex", "deadbeef"),
  repeated("uuids", "123e4567-e89b-12d3-a456-426614174000 "),
  repeated("addresses of mail", "a@"),
  repeated("commas", "a,"),
  repeated("list items", "- a\n"),
  repeated("headings", "# a\n"),
  repeated("errors", "Error: at x (y:1:1)\n"),
  repeated("json", '{"a":'),
  repeated("ideographs", "漢字"),
  repeated("emoji", "👩‍👩‍👧‍👦"),
  repeated("combining marks", "a\u0301\u0302\u0303"),
  repeated("zero width", "a\u200b"),
  repeated("tag characters", "\u{e0041}"),
  repeated("lone surrogates", "\ud800"),
  repeated("camel case", "aB"),
  repeated("escapes", "\x1b[31m"),
  {
    name: "many secrets",
    make: (characters) => {
      const next = numbers(7);
      const lines: string[] = [];
      for (let length = 0; length < characters; length += 45)
        lines.push(`sk-ant-${randomWord(next, 30)} = x`);
      return lines.join("\n").slice(0, characters);
    },
  },
  {
    name: "many assignments",
    make: (characters) => {
      const next = numbers(9);
      const lines: string[] = [];
      for (let length = 0; length < characters; length += 45)
        lines.push(`DB_PASSWORD_${lines.length}=${randomWord(next, 24)}`);
      return lines.join("\n").slice(0, characters);
    },
  },
  {
    name: "distinct words",
    make: (characters) => {
      const next = numbers(3);
      const words: string[] = [];
      for (let length = 0; length < characters; length += 11) words.push(randomWord(next, 10));
      return words.join(" ").slice(0, characters);
    },
  },
];
