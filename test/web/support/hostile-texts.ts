/** Sets a mark if it ever runs; tests look for it. */
const RUN = "window.__ran=1";

const TAGS = [
  "script",
  "img",
  "svg",
  "iframe",
  "object",
  "embed",
  "video",
  "audio",
  "body",
  "input",
  "details",
  "marquee",
  "math",
  "style",
  "template",
  "a",
];
const EVENTS = [
  "onerror",
  "onload",
  "onclick",
  "onfocus",
  "onmouseover",
  "ontoggle",
  "onstart",
  "onbegin",
  "onanimationstart",
  "onpointerenter",
];
const LINKS = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  `java&#10;script:${RUN}`,
  `&#106;avascript:${RUN}`,
  ` javascript:${RUN}`,
  `\u0001javascript:${RUN}`,
  `vbscript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `data:text/html;base64,PHNjcmlwdD53aW5kb3cuX19yYW49MTwvc2NyaXB0Pg==`,
  `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"/>`,
  `//evil.example/${RUN}`,
];
const WRAPS = [
  (text: string) => text,
  (text: string) => `"><${"x"}>${text}`,
  (text: string) => `'-->${text}<!--`,
  (text: string) => `</textarea></title></style></noscript>${text}`,
  (text: string) => `\`\`\`html\n${text}\n\`\`\`\n${text}`,
  (text: string) => `| a | b |\n|---|---|\n| ${text} | x |`,
];

/** At least 500 texts that would run a script in a careless page: HTML, handlers, links, Markdown and SVG. */
export function listHostileTexts(): readonly string[] {
  const elements = TAGS.flatMap((tag) =>
    EVENTS.map((event) => `<${tag} src=x href=x autofocus tabindex=0 open ${event}="${RUN}">${tag}</${tag}>`),
  );
  const links = LINKS.flatMap((link) => [
    `[link](${link})`,
    `[link](<${link}>)`,
    `![picture](${link})`,
    `<a href="${link}">link</a>`,
    `<img src="${link}">`,
    `<iframe src="${link}"></iframe>`,
    `<svg><a xlink:href="${link}"><text y="20">x</text></a></svg>`,
    `<form action="${link}"><button>go</button></form>`,
    `[ref][1]\n\n[1]: ${link}`,
    `<${link}>`,
  ]);
  const special = [
    `<script>${RUN}</script>`,
    `<scr<script>ipt>${RUN}</scr</script>ipt>`,
    `<svg><script>${RUN}</script></svg>`,
    `<svg><animate onbegin=${RUN} attributeName=x dur=1s></svg>`,
    `<svg><foreignObject><iframe srcdoc="<script>parent.__ran=1</script>"></iframe></foreignObject></svg>`,
    `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${RUN}&gt;">`,
    `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
    `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
    `<template><img src=x onerror=${RUN}></template>`,
    `<div id="app"></div><base href="//evil.example/">`,
    `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`,
    `<link rel="stylesheet" href="//evil.example/x.css">`,
    `<style>@import "//evil.example/x.css"; * { background: url("javascript:${RUN}") }</style>`,
    `<img srcset="x 1x, javascript:${RUN} 2x" onerror=${RUN}>`,
    `<x onclick=${RUN} style="position:fixed;inset:0">cover</x>`,
    `<input name="attributes"><input name="innerHTML" onfocus=${RUN} autofocus>`,
  ];
  const base = [...elements, ...links, ...special];
  const wrapped = WRAPS.slice(1).flatMap((wrap) => special.map(wrap));
  const inLinks = WRAPS.slice(1).flatMap((wrap) => links.slice(0, 40).map(wrap));
  return [...new Set([...base, ...wrapped, ...inLinks])];
}
