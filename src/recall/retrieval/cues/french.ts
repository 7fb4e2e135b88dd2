import type { LanguageCues } from "./language-cues.ts";

const DONE =
  "(?:dit|discuté|parlé|convenu|décidé|lu|vu|choisi|évoqué|mentionné|utilisé|recommandé|conseillé|suggéré|expliqué|proposé|donné|montré|écrit|promis|raconté|envoyé|demandé|noté)";

/** French cues. */
export const FRENCH: LanguageCues = {
  together: [
    /(?<!\p{L})comme (?:avant|la dernière fois|d['’]habitude|convenu|discuté|l['’]autre jour|hier|toujours)(?!\p{L})/iu,
    new RegExp(
      `(?<!\\p{L})(?:on (?:a|avait|l['’]a)|nous (?:avons|avions)|tu (?:m['’])?(?:as|avais)|vous (?:m['’])?(?:avez|aviez)|je (?:t['’]ai|t['’]avais|vous ai|vous avais))(?: \\p{L}+){0,3} ${DONE}(?:e?s?)(?!\\p{L})`,
      "iu",
    ),
    /(?<!\p{L})(?:tu te souviens|te souviens-tu|vous souvenez-vous|vous vous souvenez|tu te rappelles|te rappelles-tu|vous rappelez-vous|rappel(?:le|ez)-moi (?:ce|quel|qui|où|comment|pourquoi|quand|combien))/iu,
    /(?<!\p{L})(?:la dernière fois|l['’]autre jour|la (?:session|conversation|discussion|réunion) (?:précédente|d['’]avant)|(?:dernière|précédente) (?:session|conversation|discussion|réunion))(?!\p{L})/iu,
  ],
  past: [
    /(?<!\p{L})(?:hier|avant-hier|précédemment|auparavant|la semaine dernière|le (?:mois|week-end|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche) dernier|l['’]an(?:née)? derni(?:er|ère)|il y a (?:\d+|un|une|deux|trois|quelques|plusieurs) (?:minutes?|heures?|jours?|semaines?|mois|ans?))(?!\p{L})/iu,
  ],
  bothSides: /(?<!\p{L})(?:nous|notre|nos|tu|toi|ton|ta|tes|vous|votre|vos|on)(?!\p{L})/iu,
  ownFact:
    /(?<!\p{L})(?:comment s['’]appelle|quel(?:le)?s? (?:est|était|sont)|combien|qui (?:est|était)|où (?:est|sont|habit)|quand)(?!\p{L})[^?\n]{0,120}(?<!\p{L})(?:mon|ma|mes|j['’]|je)(?!\p{L}{2})[^?\n]{0,120}\?/iu,
  advice:
    /(?<!\p{L})(?:devrais|dois|peux|pourrais|puis-je|conseill\p{L}*|recommand\p{L}*|suggér\p{L}*|mieux|meilleur\p{L}*)(?!\p{L})/iu,
  code: [
    /(?<!\p{L})(?:dans )?quel(?:le)? (?:fichier|fonction|classe|module|méthode|script)/iu,
    /(?<!\p{L})dans (?:le|notre|la|ce) (?:code|dépôt|documentation|spécification|readme)(?!\p{L})/iu,
  ],
};
