import type { LanguageCues } from "./language-cues.ts";

const DONE =
  "(?:besprochen|vereinbart|beschlossen|gelesen|gesagt|erwähnt|entschieden|diskutiert|festgelegt|ausgemacht|abgemacht|geschrieben|gezeigt|empfohlen|vorgeschlagen|erklärt|versprochen|erzählt|geschickt|gegeben|verwendet|benutzt|notiert|geredet|gesprochen)";

/** German cues. */
export const GERMAN: LanguageCues = {
  together: [
    /(?<!\p{L})wie (?:zuvor|vorher|bisher|gehabt|immer|üblich|besprochen|vereinbart|abgemacht|beim letzten mal|letztes mal|neulich|gestern|damals|früher)(?!\p{L})/iu,
    new RegExp(
      `(?<!\\p{L})(?:wir (?:haben|hatten)|(?:haben|hatten) wir|du (?:hast|hattest)|(?:hast|hattest) du|sie (?:haben|hatten) (?:mir|uns)|ich (?:habe|hatte) (?:dir|ihnen|euch))[^.?!\\n]{0,80}(?<!\\p{L})${DONE}(?!\\p{L})`,
      "iu",
    ),
    new RegExp(
      `(?<!\\p{L})(?:wir|du|ich)[^.?!\\n]{0,60}(?<!\\p{L})${DONE} (?:haben|hatten|hast|hattest|habe|hatte)(?!\\p{L})`,
      "iu",
    ),
    /(?<!\p{L})(?:erinnerst du dich|erinnern sie sich|weißt du noch|wissen sie noch|erinnere mich(?: noch(?: ein)?mal)?(?: daran)?,? (?:was|wie|wer|wo|wann|welch))/iu,
    /(?<!\p{L})(?:letztes mal|letzten mal|neulich|vorhin|(?:letzte|letzten|vorige|vorigen|früheren) (?:sitzung|unterhaltung|besprechung|gespräch|gesprächs))(?!\p{L})/iu,
  ],
  past: [
    /(?<!\p{L})(?:gestern|vorgestern|damals|früher|letzte[nrs]? (?:woche|monat|jahr|wochenende|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|vor (?:\d+|ein paar|einigen|einer|einem|zwei|drei|vier|fünf) (?:minuten?|stunden?|tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?))(?!\p{L})/iu,
  ],
  bothSides: /(?<!\p{L})(?:wir|uns|unser\p{L}*|du|dich|dir|dein\p{L}*)(?!\p{L})/iu,
  ownFact:
    /(?<!\p{L})(?:wie (?:heißt|heißen|alt|viele?|lange|oft)|was ist|was war|wer ist|wer war|wo ist|wo wohn|wann (?:ist|war|habe)|welche[nrsm]?)[^?\n]{0,120}(?<!\p{L})(?:mein\p{L}*|ich)(?!\p{L})[^?\n]{0,120}\?/iu,
  advice:
    /(?<!\p{L})(?:soll\p{L}*|kann|könn\p{L}*|muss|müss\p{L}*|empfehl\p{L}*|vorschlag\p{L}*|am besten|tipps?)(?!\p{L})/iu,
  code: [
    /(?<!\p{L})(?:in )?welche[rnms]? (?:datei|funktion|klasse|modul|methode|skript|konfiguration)/iu,
    /(?<!\p{L})(?:in (?:der|unserer|dieser) (?:codebasis|dokumentation|doku|spezifikation)|im (?:code|repo|repository|quellcode|readme))(?!\p{L})/iu,
  ],
};
