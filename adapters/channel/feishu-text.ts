/** What a message of Feishu says, as plain text. */
import { type JsonObject, parsedObject, textAt } from '../shared/json.ts';

/** Somebody mentioned; in the text there stands only `key`. */
export interface FeishuMention {
  readonly key: string;
  readonly id: string | undefined;
  readonly name: string;
}

/** Texts and formatted texts; undefined for pictures, files and the like. The bot's own mention is left out, others become names. */
export function plainText(
  type: string | undefined,
  content: string,
  mentions: readonly FeishuMention[],
  botId: string | undefined,
): string | undefined {
  const parsed = parsedObject(content);
  if (parsed === undefined) return undefined;
  const text = type === 'text' ? textAt(parsed, 'text') : type === 'post' ? postText(parsed) : undefined;
  if (text === undefined) return type === 'text' || type === 'post' ? '' : undefined;

  const byKey = new Map(mentions.map((mention) => [mention.key, mention]));
  const named = text.replaceAll(/@_user_\d+|@_all\b/g, (key) => {
    const mention = byKey.get(key);
    if (mention === undefined) return key === '@_all' ? '@all' : key;
    return mention.id !== undefined && mention.id === botId ? '' : `@${mention.name}`;
  });
  return named.trim();
}

/** The text of the old format, in which mentions are tags around a name. */
export const v1Text = (text: string): string => text.replaceAll(/<at\b[^<>]*>([^<>]*)<\/at>/g, '$1').trim();

/** A title and paragraphs of pieces; pictures and the like leave nothing. */
function postText(post: JsonObject): string {
  const paragraphs: readonly unknown[] = Array.isArray(post['content']) ? post['content'] : [];
  const lines = paragraphs.map((pieces) => (Array.isArray(pieces) ? pieces.map(pieceText).join('') : ''));
  return [textAt(post, 'title') ?? '', ...lines].join('\n').trim();
}

function pieceText(piece: unknown): string {
  if (typeof piece !== 'object' || piece === null) return '';
  const { tag, text, href, user_id: userId } = piece as JsonObject;
  if (tag === 'at') return typeof userId === 'string' ? userId : '';
  if (typeof text !== 'string') return '';
  if (tag === 'code_block') return `\n${text}\n`;
  return tag === 'a' && typeof href === 'string' && href !== text ? `${text} (${href})` : text;
}
