# SPDX-License-Identifier: Apache-2.0
import scrapy


class NewsSpider(scrapy.Spider):
    """Gets the pages that Freshet has chosen, and of these the ones that were downloaded anew."""
    name = "news"

    def parse(self, response):
        offer = response.meta["freshet"]
        yield {"url": response.url, "title": response.css("title::text").get(), "because": offer.reason}
