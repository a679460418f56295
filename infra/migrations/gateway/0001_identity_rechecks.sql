CREATE TABLE "gateway"."identity_rechecks" (
	"wallet" text PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"linked_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone,
	"checked_at" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "identity_rechecks_due" ON "gateway"."identity_rechecks" USING btree ("next_check_at");--> statement-breakpoint
-- Whoever has a verdict is asked about from now on, beginning at once.
INSERT INTO "gateway"."identity_rechecks" ("wallet", "provider", "next_check_at")
SELECT "wallet", "provider", now() FROM "gateway"."identities"
ON CONFLICT DO NOTHING;
--> statement-breakpoint
-- Links were not noted before: everybody who signed in may have one.
INSERT INTO "gateway"."identity_rechecks" ("wallet", "provider", "linked_at", "next_check_at")
SELECT "wallet", coalesce((SELECT "provider" FROM "gateway"."identities" ORDER BY "decided_at" DESC LIMIT 1), 'sumsub'), "created_at", now()
FROM "gateway"."users"
ON CONFLICT DO NOTHING;
