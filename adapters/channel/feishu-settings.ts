/** What a Feishu app needs to be known by, from the configuration of a registered channel. */
import type { NotifyTarget } from '../../kernel/index.ts';
import { textAt } from '../shared/json.ts';

/** Settings of one app. `baseUrl` has no slash at its end. At least one of the last two is there. */
export interface FeishuSettings {
  readonly baseUrl: string;
  readonly appId: string;
  readonly appSecret: string;
  readonly verificationToken: string | undefined;
  readonly encryptKey: string | undefined;
}

const FEISHU = 'https://open.feishu.cn';
const LARK = 'https://open.larksuite.com';

/** The settings, or the end of a sentence that says what is missing. */
export function feishuSettings({ url, config }: NotifyTarget): FeishuSettings | string {
  const appId = textAt(config, 'app_id');
  const appSecret = textAt(config, 'app_secret');
  const verificationToken = textAt(config, 'verification_token');
  const encryptKey = textAt(config, 'encrypt_key');
  if (appId === undefined) return 'has no config.app_id';
  if (appSecret === undefined) return 'has no config.app_secret';
  if (verificationToken === undefined && encryptKey === undefined) {
    return 'has neither config.verification_token nor config.encrypt_key, and without one of them nobody knows who sends';
  }
  const baseUrl = textAt(config, 'base_url')?.replace(/\/+$/, '') ?? ownBase(url);
  if (!mayKnowSecret(baseUrl, url)) return `has a config.base_url that is neither Feishu's, nor Lark's, nor on the host of its url`;
  return { baseUrl, appId, appSecret, verificationToken, encryptKey };
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');
const ownBase = (url: string): string => (/(^|\.)larksuite\.com$/.test(hostOf(url)) ? LARK : FEISHU);

/**
 * The app's secret is sent there. Whoever changes the host of `url` must give the secrets again; a free `base_url` would be a way around that.
 */
function mayKnowSecret(baseUrl: string, url: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { origin, protocol, search, hash } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '') return false;
  return origin === FEISHU || origin === LARK || (URL.canParse(url) && origin === new URL(url).origin);
}
