CREATE TABLE "books"."totals" (
	"source" text NOT NULL,
	"account" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	CONSTRAINT "totals_source_account_asset_pk" PRIMARY KEY("source","account","asset")
);
--> statement-breakpoint
CREATE INDEX "provider_moves_product" ON "books"."provider_moves" USING btree ("product_id");