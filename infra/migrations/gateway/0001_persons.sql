CREATE TABLE "gateway"."persons" (
	"wallet" text PRIMARY KEY NOT NULL,
	"ruling" text NOT NULL,
	"linked_to" text,
	"deed" uuid NOT NULL,
	"replaced" uuid,
	"ruled_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "persons_ruling" CHECK ("gateway"."persons"."ruling" in ('allowed', 'linked')),
	CONSTRAINT "persons_linked" CHECK (("gateway"."persons"."ruling" = 'linked') = ("gateway"."persons"."linked_to" is not null))
);
--> statement-breakpoint
ALTER TABLE "gateway"."identities" ADD COLUMN "first_verified_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "gateway"."identities" ADD COLUMN "same_as" text;--> statement-breakpoint
ALTER TABLE "gateway"."identities" ADD COLUMN "named" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE INDEX "identities_duplicate" ON "gateway"."identities" USING btree ("decided_at") WHERE "gateway"."identities"."state" = 'duplicate';--> statement-breakpoint
CREATE INDEX "identities_named" ON "gateway"."identities" USING gin ("named");