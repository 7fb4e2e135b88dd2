import type { LanguageCues } from "./language-cues.ts";

/** Spanish cues. */
export const SPANISH: LanguageCues = {
  together: [
    /(?<!\p{L})como (?:antes|siempre|la última vez|la vez pasada|de costumbre|acordamos|hablamos|dijimos|quedamos|te dije|decidimos|hicimos)(?!\p{L})/iu,
    /(?<!\p{L})(?:hablamos|discutimos|acordamos|decidimos|leímos|quedamos en|dijimos|mencionamos|comentamos|habíamos \p{L}+|hemos (?:hablado|discutido|acordado|decidido|leído|visto|dicho|mencionado|comentado))(?!\p{L})/iu,
    /(?<!\p{L})(?:(?:me )?(?:dijiste|mencionaste|recomendaste|sugeriste|explicaste|prometiste|mostraste|propusiste|escribiste)|me diste)(?!\p{L})/iu,
    /(?<!\p{L})te (?:dije|conté|mostré|envié|pedí|mandé|expliqué|mencioné|había \p{L}+)(?!\p{L})/iu,
    /(?<!\p{L})(?:recuerdas|te acuerdas|se acuerda|recuerda usted|recuérdame (?:qué|cuál|cómo|quién|dónde|cuándo|por qué|lo que))(?!\p{L})/iu,
    /(?<!\p{L})(?:la última vez|la vez pasada|el otro día|la (?:sesión|conversación|reunión|charla) (?:anterior|pasada))(?!\p{L})/iu,
  ],
  past: [
    /(?<!\p{L})(?:ayer|anteayer|anoche|anteriormente|previamente|la semana pasada|el (?:mes|año|lunes|martes|miércoles|jueves|viernes|sábado|domingo|fin de semana) pasado|hace (?:\d+|un|una|dos|tres|cuatro|cinco|unos|unas|varios|varias|algunos|algunas) (?:minutos?|horas?|días?|semanas?|mes(?:es)?|años?))(?!\p{L})/iu,
  ],
  bothSides: /(?<!\p{L})(?:nosotros|nuestr[oa]s?|tú|tu|tus|usted|\p{L}+(?:amos|imos|aste|iste))(?!\p{L})/iu,
  ownFact:
    /(?:cómo se llama|cuál (?:es|era)|cuántos?|cuántas?|quién (?:es|era)|dónde|cuándo|qué)(?!\p{L})[^?\n]{0,120}(?<!\p{L})(?:mi|mis|mío|mía|yo)(?!\p{L})[^?\n]{0,120}\?/iu,
  advice:
    /(?<!\p{L})(?:debería|debo|puedo|podría|recomiend\p{L}*|recomendar|suger\p{L}*|conviene|mejor|consejos?)(?!\p{L})/iu,
  code: [
    /(?<!\p{L})(?:en )?qué (?:archivo|fichero|función|clase|módulo|método|script)/iu,
    /(?<!\p{L})en (?:el|nuestro|la|nuestra) (?:código|repositorio|documentación|especificación|readme)(?!\p{L})/iu,
  ],
};
