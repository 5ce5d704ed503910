# SPDX-License-Identifier: Apache-2.0
# A Scrapy project whose pages Freshet chooses:
#     freshet init crawl; freshet -C crawl import urls.txt
#     scrapy crawl news -s FRESHET_REPOSITORY=crawl -s FRESHET_BUDGET=1000 -o changed.jsonl
BOT_NAME = "news"
SPIDER_MODULES = ["news.spiders"]
USER_AGENT = "news (+https://example.org/bot)"      # whom a webmaster can ask
ROBOTSTXT_OBEY = True
DOWNLOADER_MIDDLEWARES = {"freshet.scrapy.FreshetMiddleware": 50}
TELNETCONSOLE_ENABLED = False
LOG_LEVEL = "INFO"
REQUEST_FINGERPRINTER_IMPLEMENTATION = "2.7"
