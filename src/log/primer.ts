/**
 * Dictionary that every small payload is compressed against: the keys of our own JSON, and words that are common in
 * agent conversations. A 2 KB message is too short to repeat itself much; the primer saves a tenth of its size
 * (docs/decisions/0004). Part of the file format: never edited; a second primer needs its own packing number.
 */

/** Words of code, tools, tool output and English; rarer words first, because distance does not affect the cost. */
const WORDS = [
  " should would could about there their other after before where because through between under while without against",
  " another every first value string number boolean undefined null true false object array function return const await",
  " async export import default interface extends implements readonly public private static class constructor throw new",
  " Error( catch finally switch case break continue typeof instanceof for (const of let if (else { => { }); });\n ());\n",
  " = {\n this. process.env. console.log( JSON.stringify( Promise< Object. Array. Buffer. .length .map(( .filter((",
  " .push( .toString() options context message messages session request response result results error errors warning",
  ' failed failure success passed expected received actual test tests describe( expect( toBe( toEqual( it(" file files',
  " folder path paths name names type types index config package.json node_modules/ src/ test/ dist/ docs/ README.md",
  " tsconfig.json https://www. https://github.com/ http://localhost: .com/ .org/ .html .json .yaml .test.ts .ts: .tsx",
  ' .js .mjs .py .md   "version": "  "description": "  "license": "MIT",  "dependencies": {  "name": "  "type": "',
  '  "id": "  "content": "  "status": "  "timestamp": "T00:00:00.000Z" -rw-r--r-- 1 root root drwxr-xr-x  total diff',
  " --git a/ b/ index  --- a/ +++ b/ @@ -  def  self. import os from typing import  return None  raise ValueError(",
  " #include < int main( void  static const char * fn pub struct impl let mut use std:: func (err error) if err != nil {",
  " return nil, err } package main SELECT  FROM  WHERE  INSERT INTO  CREATE TABLE  public class  System.out.println(",
  " the  and  that  this  with  from  have  will  your  when  then  than  they  what  which  these  those  some  more",
  "  only  also  into  just  like  make  need  used  using  user  been  being  each  here  does  done  such  same  must",
  "  very  both  over  even  most  many  much  time  work  code  line  lines  data  list  call  calls  run  running",
  "  command  output  input  change  changes  update  create  created  delete  remove  added  add  check  checks  read",
  "  write  written  open  close  start  stop  find  found  look  looking  see  set  get  got  now  next  last  current",
  "  currently  following  example  instead  however  because  available  different  directory  implementation",
  "  information  parameter  parameters  argument  arguments  property  properties  provided  specified  required",
  "  optional  support  supported  application  environment  development  performance  documentation  ing  tion  ation",
  "  ment  ally  able  ness  ence  ance  ould  ight  ound  ther  here  ever  ing the  of the  in the  to the  on the",
  "  for the  and the  is a  it is  to be  I'll  Let me  I'm  don't  can't  it's  // /** * @param @returns */ /// # - [ ]",
  " **: ** | --- |\n\t\n\t\t\n\t\t\t\n```ts\n\n```\n\n### \n\n## \n\n- \n1. \n2. \n* \n  \n    \n      \n        ",
].join("");

/** Typical JSON beginnings of our messages. */
const SKELETON = [
  '{"role":"tool","parts":[{"type":"tool-result","callId":"call_","name":"","isError":true,"output":[{"type":"text","text":',
  '}]}],"model":"","meta":{"{"role":"assistant","parts":[{"type":"reasoning","text":1,"opaque":{"signature":"',
  '{"type":"tool-call","callId":"toolu_","name":"read_file","input":{"path":"","command":"","content":"\\n    \\n\\n',
  '"}}]}\n{"role":"assistant","parts":[{"type":"text","text":1}]}\n{"role":"user","parts":[{"type":"text","text":',
].join("");

/** The first primer. */
export const PRIMER: Uint8Array = new TextEncoder().encode(WORDS + SKELETON);
